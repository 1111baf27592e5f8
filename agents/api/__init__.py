"""The resources of the REST API that are about agents and their runs, and how a caller is known."""

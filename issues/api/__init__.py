"""The tracker's resources of the REST API."""

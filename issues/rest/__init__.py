"""What every resource of the REST API is served with: who calls, what they may see, pages, bodies, problems.

The resources themselves are in the `api` package of each app.
"""

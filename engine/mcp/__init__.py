"""The door for clients of the Model Context Protocol: what agents can do and read, as tools.

Only `server.py` loads the protocol's SDK, which takes half a second and 27 MB: when the first client calls.
"""

"""Reading what `agents/export.py` writes: a company from one zip file, each part from what the file says of it.

What a file says is nobody's word: every row is held against the limits that pages and API hold people to.
"""

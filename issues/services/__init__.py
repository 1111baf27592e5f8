"""The use cases of the tracker: one function each, keyword-only, with an actor.

Each is one transaction, checks permission inside, writes its line of activity, and leaves its effects to the commit.
"""

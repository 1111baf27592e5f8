"""The whole installation as one file, and back again: the database at one moment, and the bytes that it names."""

"""Agents that are command-line programs of this server: how one is started, watched, heard and ended."""

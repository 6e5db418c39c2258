"""Patches of a pin: read, held against the files of a tree in memory, applied and taken back. Pure."""

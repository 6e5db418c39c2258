"""The only rooms with IO: processes, git, files, the journal of writes, packaged data."""

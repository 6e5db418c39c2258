"""Programs that another Python runs, of version 3.8 or later: each by its path, with nothing of pinctl imported."""

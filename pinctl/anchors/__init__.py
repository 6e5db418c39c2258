"""Text edits that the consumer's build makes of a pinned source: found in its build files, judged against the tree."""

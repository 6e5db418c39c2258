"""What a pinned package offers to Python, what the consumer asks of it, and where the two part."""

"""What is installed in an environment or an image, held against the pins."""

"""What is known of wheels: the matrix and keys of what is built, and what lies in one wheel file."""

"""Docker images of the consumer: what goes into a build from the pins, and what an image says of itself."""

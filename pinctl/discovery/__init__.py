"""Finding the pins of a repository that has no pins.toml yet. Pure: sightings -> groups -> a proposal."""

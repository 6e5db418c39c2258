"""pinctl: one pins.toml for the kernel dependencies of an LLM inference engine."""

__version__ = "0.1.0"

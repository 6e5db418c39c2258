"""Publishing, without its IO: where wheels go, what a release is called, how records join. See docs/publishing.md."""

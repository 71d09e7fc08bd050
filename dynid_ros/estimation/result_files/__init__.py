"""Results and sidecars of recordings as files."""

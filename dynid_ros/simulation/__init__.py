"""An arm of which the truth is known."""

"""Where data and results last."""

"""The identified model: its parameters, their error bars, its metrics and predictions."""

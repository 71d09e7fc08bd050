"""The way from recordings to an identified model."""

"""The batch pipeline from recordings to an identified model."""

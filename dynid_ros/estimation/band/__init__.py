"""Cut-off and delay of recordings, chosen by cross-validation."""

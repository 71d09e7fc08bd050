"""Many recordings: one model, which arm has changed, and which bags do not belong."""

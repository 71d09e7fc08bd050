"""What is done to samples as they come, one after the other."""

"""What was measured, and what is wrong with it."""

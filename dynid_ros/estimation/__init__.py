"""What follows from the data."""

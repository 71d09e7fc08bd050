"""What is estimated beside the dynamics."""

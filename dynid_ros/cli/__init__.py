"""The dynid command."""

"""What an arm carries, from recordings with it."""

"""What the sensors say."""

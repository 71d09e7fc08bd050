"""Start, subscriptions and simulated time, shared by several nodes."""

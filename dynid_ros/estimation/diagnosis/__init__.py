"""Evidence on poor fits: clipped, copied and dissipative signals, and outliers."""

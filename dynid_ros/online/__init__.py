"""The same, sample by sample, while the arm moves."""

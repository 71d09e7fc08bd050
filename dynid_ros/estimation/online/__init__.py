"""Online identification, sample by sample, while the arm moves."""

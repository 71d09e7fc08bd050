"""A Fourier motion and its files."""

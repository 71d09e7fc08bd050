"""Fourier motions and their files."""

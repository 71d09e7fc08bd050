"""Arms, motions, recordings and results as pages in 3D, on viser."""

"""One page application in 3D, on viser: of a file, or of running nodes."""

"""Pages for a browser: reports, 3D views, and the live page of running nodes."""

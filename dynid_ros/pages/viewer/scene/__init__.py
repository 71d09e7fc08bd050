"""The 3D scene: an arm, what stands around it, and its track."""

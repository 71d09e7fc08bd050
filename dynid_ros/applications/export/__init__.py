"""An identified model in the formats of others: URDF, MJCF, a table, a Python file."""

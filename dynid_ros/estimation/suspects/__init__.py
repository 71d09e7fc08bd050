"""One table of suspects: faults of the data or of the arm, by one score and one decision."""

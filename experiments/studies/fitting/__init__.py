"""Parameters from measurements: least squares, intervals, and what cannot be told apart."""

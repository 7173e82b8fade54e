"""Documents read within bounds, files written whole, and locks."""

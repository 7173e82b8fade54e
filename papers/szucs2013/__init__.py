"""G. Szűcs, "Random Response Forest for privacy-preserving classification", Journal of Applied Mathematics, 2013."""

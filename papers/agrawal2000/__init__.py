"""R. Agrawal and R. Srikant, "Privacy-preserving data mining", SIGMOD 2000."""

"""Fletcher and Islam (2015), DP-RF: random forests tuned by signal to noise, against Private-RDT."""

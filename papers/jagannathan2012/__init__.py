"""Jagannathan, Pillaipakkamnatt, Wright, "A practical differentially private random decision tree classifier", 2012."""

"""A sum that opens as a whole: masks, messages, rounds."""

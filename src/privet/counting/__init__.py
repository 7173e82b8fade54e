"""Where exact counts come from: rows in memory, or batches of a file. Counting is a sum, so it does not matter."""

"""New rows, batch by batch."""

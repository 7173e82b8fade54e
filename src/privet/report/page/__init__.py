"""The page to read and sign."""

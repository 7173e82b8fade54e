"""The papers' figures and tables, made again with privet as a user would."""

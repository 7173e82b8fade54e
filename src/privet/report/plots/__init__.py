"""Pictures of a released model, with matplotlib."""

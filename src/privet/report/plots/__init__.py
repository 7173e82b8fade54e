"""Pictures of a released model, drawn with matplotlib, which is imported when the first one is drawn."""

"""Channels: what happens to each field of a record before it leaves its owner, and who answers."""

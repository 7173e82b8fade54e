"""Transports for the messages of a secure sum. A transport is trusted with delivery and nothing else."""

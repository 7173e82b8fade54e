"""New rows, batch by batch: what a model has seen, how the same rows are recognised, and what a refit would gain.

The order in which a batch is recorded and its model saved is argued in update.md.
"""

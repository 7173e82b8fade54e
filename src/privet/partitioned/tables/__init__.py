"""A forest of parties from two sums: class tables of every attribute, then one Newton step. See table_forest.md.

`table_round` and `newton_round` are what is summed, `newton_kernel` is a row's part of it, `attribute_weights` is what
follows from opened sums, `table_forest` is the model, and `two_sums` runs both rounds of a secure sum.
"""

"""Releases and their cost: receipts (`events`), what they cost (`accounting`) and what they guarantee (`guarantee`).

`mechanisms/` makes releases and returns a receipt with each; `ledger/` records what a data set has spent.
"""

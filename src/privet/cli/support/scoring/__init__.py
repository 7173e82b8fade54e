"""Exact scores of rows with known labels, for their owner: of a model in a file, and by cross-validation.

`labelled_rows` reads the rows, `held_out` holds what models say of them, `class_scores` and `number_scores` score that,
and `cross_validation` fits to folds.
"""

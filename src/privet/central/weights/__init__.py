"""A forest of small trees whose leaf weights are fitted together, as one private logistic model.

The public choices are in `policy`; the proof that the fit is private is
privacy/mechanisms/objective_perturbation.md.
"""

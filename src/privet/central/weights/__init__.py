"""A forest of small trees; one private logistic model fits all their leaf weights together.

`policy` makes every public choice, `fitting` runs a fit and pays for it, `minimiser` releases the weights. The proof
that the fit is private is privacy/mechanisms/objective_perturbation.md: change it together with the code.
"""

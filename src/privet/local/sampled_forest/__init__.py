"""A forest of one-attribute trees from answers to one question of many: class tables, their noise, weights, chances."""

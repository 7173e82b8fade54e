"""One question of many: each person's coin picks it, and a subset of its cells is sent."""

"""A reconstruction tree in plain Python, a row and a recursion at a time: the twin of the whole fit.

Answers must be all different: ties are broken by lot, and here there is none.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.stats import chi2

from privet.local.channels.added_noise import noise_matrix


@dataclass
class Node:
    counts: list[int]
    attribute: int = -1
    cut: int = -1
    children: list["Node"] = field(default_factory=list)

    @property
    def cost(self) -> int:
        below = 2 + sum(child.cost for child in self.children) if self.children else np.inf
        return min(1 + sum(self.counts) - max(self.counts), below)


def plain_cells(answers, column):
    """Return the cell of each answer, by order, as many as the iteration says."""
    matrix = noise_matrix(column, column.attribute)
    seen = [int(s) for s in matrix.seen.of(np.array(answers))]
    shares, n, m = matrix.start, len(answers), column.attribute.n_values
    while True:
        after = sum(matrix.chances[s] * shares / (matrix.chances[s] @ shares) for s in seen) / n
        distance = sum((n * after[i] - n * shares[i]) ** 2 / (n * shares[i]) for i in range(m) if shares[i])
        shares = after
        if distance < 0.01 * chi2.ppf(0.95, m - 1):
            break
    upto = [round(n * float(total)) for total in np.cumsum(shares)]
    cells = [0] * n
    for rank, row in enumerate(sorted(range(n), key=lambda i: answers[i])):
        cells[row] = next(i for i in range(m) if rank < upto[i] or i == m - 1)
    return cells


class PlainTree:
    def __init__(self, columns, n_classes, limits):
        self.columns, self.n_classes, self.limits = columns, n_classes, limits

    def fit(self, answers, labels):
        self.answers, self.labels = answers, labels
        self.cells = [[None] * len(self.columns) for _ in labels]
        rows = list(range(len(labels)))
        self.place(rows, set(range(len(self.columns))))
        return self.pruned(self.grow(rows, set(), 0))

    def place(self, rows, attributes):
        for c in range(self.n_classes):
            own = [row for row in rows if self.labels[row] == c]
            for j in attributes if own else ():
                for row, cell in zip(
                    own, plain_cells([self.answers[row][j] for row in own], self.columns[j]), strict=True
                ):
                    self.cells[row][j] = cell

    def grow(self, rows, tested, depth):
        node = Node([sum(self.labels[row] == c for row in rows) for c in range(self.n_classes)])
        if len(rows) < self.limits.min_rows or max(node.counts) >= self.limits.purity * len(rows):
            return node
        again = self.limits.min_reconstructed
        if depth > 0 and again is not None and len(rows) >= again:
            self.place(rows, set(range(len(self.columns))) - tested)
        best = max(self.splits(rows), default=(0,))
        if best[0] <= self.purity(rows):
            return node
        j, cut = -best[1], best[3]
        parts = [row for row in rows if self.cells[row][j] <= cut], [row for row in rows if self.cells[row][j] > cut]
        node.attribute, node.cut = j, cut
        node.children = [self.grow(part, tested | {j}, depth + 1) for part in parts]
        return node

    def splits(self, rows):
        """Yield how pure each cut, in the middle of empty cells, leaves rows; of equal ones the first is largest."""
        for j, column in enumerate(self.columns):
            by_size = {}
            for cut in range(column.attribute.n_values):
                left = [row for row in rows if self.cells[row][j] <= cut]
                if 0 < len(left) < len(rows):
                    by_size.setdefault(len(left), []).append(cut)
            for size, cuts in by_size.items():
                cut = (cuts[0] + cuts[-1]) // 2
                left = [row for row in rows if self.cells[row][j] <= cut]
                right = [row for row in rows if self.cells[row][j] > cut]
                yield self.purity(left) + self.purity(right), -j, -size, cut

    def purity(self, rows):
        return sum(Fraction(sum(self.labels[row] == c for row in rows) ** 2, len(rows)) for c in range(self.n_classes))

    def pruned(self, node):
        if node.cost == 1 + sum(node.counts) - max(node.counts):
            return Node(node.counts)
        node.children = [self.pruned(child) for child in node.children]
        return node

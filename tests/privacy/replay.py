"""A whole fit against its neighbour, release by release, with outputs that somebody else chooses.

Both tables are fitted by the product's own steps. Every mechanism is stopped: it says what it would release for each of
the two tables, an adversary picks an output, and both fits go on as if it had been drawn. What an output tells is the
logarithm of how much likelier it is without the row than with it, exactly, from the law of the mechanism.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from privet.central.weights import fitting, histograms, interactions, selection, single_tree
from privet.central.weights.fitting import Fitting
from privet.central.weights.minimiser import release_minimiser
from privet.central.weights.policy import Policy
from privet.counting.rows import MemoryRows
from privet.privacy.accounting import pure_epsilon
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.rng import SystemNoise
from tests.central.weights.density import joined
from tests.central.weights.noise_law import NoiseLaw

FAR = 10**7


class StoppedError(Exception):
    """A release that nobody has chosen an output for yet."""


@dataclass
class Step:
    """One release: its name, its receipts, and what the adversary found it to tell."""

    what: str
    price: float
    told: float


@dataclass
class Replay:
    """The outputs chosen so far, and the release at which a fit stops."""

    policy: Policy
    max_rows: int = 1
    outputs: list = field(default_factory=list)
    seen: list = field(default_factory=list)
    directions: dict = field(default_factory=dict)

    def stop_at(self, table):
        """Fit a table with the outputs chosen; return the release that comes next, or None, and the fit."""
        self.seen = []
        codes = np.array([codes for codes, _ in table], np.uint16).reshape(-1, len(self.policy.schema.attributes))
        rows = MemoryRows(codes, np.array([label for _, label in table], np.uint16))
        epsilon = self.policy.epsilon * self.max_rows
        own = Fitting(
            self.policy, rows, self.max_rows, epsilon, np.random.default_rng(1), SystemNoise(), 1, self.directions
        )
        try:
            own.release()
        except StoppedError as stopped:
            return stopped.args[0], own
        return None, own

    def _answer(self, release):
        if len(self.seen) == len(self.outputs):
            raise StoppedError(release)
        self.seen.append(release)
        return self.outputs[len(self.seen) - 1]

    def laplace(self, exact, *, epsilon, sensitivity, what, noise):
        """Stand in for `discrete_laplace`."""
        _, receipt = discrete_laplace(exact, epsilon=epsilon, sensitivity=sensitivity, what=what, noise=noise)
        return self._answer(
            LaplaceRelease(what, receipt, np.array(exact), self.policy.n_rows, self.policy.epsilon)
        ), receipt

    def choice(self, exact, *, epsilon, sensitivity, what, noise, monotone=False):
        """Stand in for `permute_and_flip`."""
        _, receipt = permute_and_flip(
            exact, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone, what=what, noise=noise
        )
        return self._answer(Choice(what, receipt, np.array(exact))), receipt

    def minimiser(self, objective, grid, *, noise_error, epsilon, what, noise):
        """Stand in for `release_minimiser`."""
        none = np.zeros(objective.shape, dtype=np.int64)
        _, receipt = discrete_laplace(none, epsilon=epsilon, sensitivity=grid.sensitivity, what=what, noise=noise)
        weights = self._answer(Minimiser(what, self._law, objective, self.max_rows))
        return np.rint(weights * 2.0**-grid.exponent).astype(np.int64), receipt

    def law(self, *args, **options):
        """Stand in for `choose_noise`, and remember what it chose."""
        self._law = self._choose_noise(*args, **options)
        return self._law

    def patch(self, monkeypatch):
        """Put the stopped mechanisms in the places of the real ones."""
        self._choose_noise = fitting.choose_noise
        for module in (fitting, histograms, single_tree):
            monkeypatch.setattr(module, "discrete_laplace", self.laplace)
        for module in (selection, interactions, single_tree):
            monkeypatch.setattr(module, "permute_and_flip", self.choice)
        monkeypatch.setattr(fitting, "release_minimiser", self.minimiser)
        monkeypatch.setattr(fitting, "choose_noise", self.law)
        return self

    def played(self, rows, more, adversary):
        """Return every release with its price and what the adversary's output told, and the fit's receipts.

        The second table has the rows ``more``; a row is its codes and its class.
        """
        self.outputs, steps = [], []
        while True:
            without, own = self.stop_at(rows)
            with_row, _ = self.stop_at([*rows, *more])
            if without is None or with_row is None:
                assert without is with_row is None, "what is released next depends on the row"
                return steps, own.receipts
            assert without.what == with_row.what, "what is released next depends on the row"
            assert without.public == with_row.public, "public numbers depend on the row"
            output, told = without.chosen(with_row, adversary)
            self.outputs.append(output)
            steps.append(Step(without.what, without.price, told))


@dataclass
class LaplaceRelease:
    """Whole numbers with discrete Laplace noise; ``n_rows`` were declared, and a row may cost ``row_epsilon``."""

    what: str
    receipt: object
    exact: np.ndarray
    n_rows: int
    row_epsilon: float

    @property
    def public(self):
        return self.receipt, self.exact.shape

    @property
    def price(self):
        return pure_epsilon(self.receipt)

    def chosen(self, with_row, adversary):
        output = adversary.counts(self, with_row)
        scale = float(self.receipt.scale)
        return output, float((np.abs(output - with_row.exact) - np.abs(output - self.exact)).sum() / scale)


@dataclass
class Choice:
    """One of several, by permute-and-flip."""

    what: str
    receipt: object
    exact: np.ndarray

    @property
    def public(self):
        return self.receipt, self.exact.shape

    @property
    def price(self):
        return pure_epsilon(self.receipt)

    @property
    def log_chances(self):
        """The law of McKenna and Sheldon: a candidate's coin times the mean of 1 / (1 + heads among the others)."""
        rate = float(self.receipt.rate)
        coins = np.exp(-rate * (self.exact.max() - self.exact).astype(float))
        chances = []
        for i in range(len(coins)):
            heads = np.array([1.0])
            for p in np.delete(coins, i):
                heads = np.convolve(heads, [1 - p, p])
            chances.append(coins[i] * (heads / (1 + np.arange(len(heads)))).sum())
        return np.log(chances)

    def chosen(self, with_row, adversary):
        told = self.log_chances - with_row.log_chances
        index = adversary.index(told)
        return index, float(told[index])


@dataclass
class Minimiser:
    """The minimiser of an objective with K-norm noise; its density is that of the noise times a determinant.

    With more than two classes an output may have a part that they have in common, which noise before its mean is taken
    away leads to. It counts, so that nothing is hidden by taking it away; what goes on in the fit is without it.
    """

    what: str
    law: object
    objective: object
    max_rows: int

    @property
    def public(self):
        own = self.objective
        numbers = [own.offsets, *own.prior.precisions, *(float(scale) for scale in self.law.scales)]
        numbers += [group.trees for group in self.law.groups]
        if own.order is not None:
            numbers += [own.order.lower, own.order.upper, own.order.slack, own.order.strength]
        return own.trees.axes, tuple(np.asarray(each).tobytes() for each in numbers), own.margin

    @property
    def price(self):
        return pure_epsilon(self.law.event(self.what, rows=self.max_rows))

    @property
    def precision(self):
        return joined(self.objective.prior.precisions)

    @property
    def n_classes(self):
        return len(self.objective.offsets)

    @property
    def basis(self):
        return np.eye(1) if self.n_classes == 2 else null_space(np.ones((1, self.n_classes)))

    @property
    def possible(self):
        """The law of the noise, and so which directions the product of the precision and the weights can have."""
        sizes, groups = self.objective.trees.sizes, [group.trees for group in self.law.groups]
        return NoiseLaw.of(sizes, groups, self.law.scales, self.n_classes)

    @property
    def reached(self):
        """What each line has of each leaf, as the product's trees say."""
        trees, cells = self.objective.trees, self.objective.rows.cells.astype(np.int64)
        shares = trees.shares.toarray()
        return np.array([shares[line + trees.cell_starts].sum(axis=0) for line in cells]).reshape(-1, trees.n_leaves)

    def log_density(self, weights, room=1e-6):
        """Return the logarithm of the density at ``weights``, but for a constant that no row changes.

        They must be such that some noise leads to them, within ``room``.
        """
        own, basis = self.objective, self.basis
        tilt = -self.precision @ weights
        hessian = np.kron(self.precision, np.eye(basis.shape[1]))
        if own.order is not None:
            tilt = tilt - own.order.gradient(weights)
            own.order.add_hessian(weights, hessian)
        times = np.ones(own.rows.n_lines) if own.rows.weights is None else own.rows.weights
        for i, (line, count) in enumerate(zip(self.reached, times, strict=True)):
            score = line @ weights + (0 if own.rows.scores is None else own.rows.scores[i].astype(float))
            scores = own.offsets + (score if len(score) > 1 else score * np.array([-0.5, 0.5]))
            for share, mark in self._classes_of(own.rows.labels[i]):
                chances = softmax(scores - own.margin * mark)
                pull, bend = chances - mark, np.diag(chances) - np.outer(chances, chances)
                if self.n_classes == 2:
                    pull, bend = pull[1:], bend[1:, 1:]
                tilt = tilt - share * count * np.outer(line, pull)
                hessian = hessian + share * count * np.kron(np.outer(line, line), basis.T @ bend @ basis)
        law = self.possible
        assert law.outside(tilt) < room * (1 + np.abs(tilt).max() / min(law.scales)), "no noise leads here"
        return np.linalg.slogdet(hessian)[1] + law.log_density(tilt)

    def _classes_of(self, label):
        """Return the shares that a row has of classes; a label counts steps of the second one."""
        marks, share = np.eye(self.n_classes), int(label) / self.objective.steps
        if self.objective.steps == 1:
            return [(1.0, marks[label])]
        return [(1 - share, marks[0]), (share, marks[1])]

    def chosen(self, with_row, adversary):
        weights = adversary.weights(self, with_row)
        told = self.log_density(weights, adversary.room) - with_row.log_density(weights, adversary.room)
        return weights - weights.mean(axis=1, keepdims=True) * (self.n_classes > 2), told


class Worst:
    """Picks whatever speaks most for the table without the row, or with ``sign`` -1 for the one with it."""

    room = 1e-6

    def __init__(self, sign=1):
        self.sign = sign

    def counts(self, without, with_row):
        """Let the counts that the row moves lie far to one side, and all others far up: many rows, little noise."""
        moved = with_row.exact - without.exact
        far = FAR if self.sign < 0 else -FAR // 100
        return without.exact + np.where(moved > 0, far, FAR)

    def index(self, told):
        return int(np.argmax(self.sign * told))

    def weights(self, without, with_row):
        """Look along the direction in which the row's own class is pulled down, and up."""
        own, columns = with_row.objective.rows, with_row.objective.shape[1]
        line, label = with_row.reached[-1], int(own.labels[-1])
        side = np.array([1.0 if 2 * label >= with_row.objective.steps else -1.0])
        mark = np.eye(with_row.n_classes)[label] - 1 / with_row.n_classes if columns > 1 else side
        along = np.linalg.solve(without.precision, np.outer(line, mark))

        def told(length):
            return self.sign * (without.log_density(length * along) - with_row.log_density(length * along))

        lengths = np.concatenate([-np.geomspace(200, 0.1, 30), np.geomspace(0.1, 200, 30)])
        best = lengths[int(np.argmax([told(length) for length in lengths]))]
        polished = minimize_scalar(
            lambda length: -told(length), bounds=sorted([0.85 * best, 1.2 * best]), method="bounded"
        )
        return (polished.x if -polished.fun > told(best) else best) * along


class Random(Worst):
    """Draws outputs that have nothing to do with the tables, wide and narrow."""

    def __init__(self, seed):
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def counts(self, without, with_row):
        drawn = self.rng.laplace(size=without.exact.shape) * 10.0 ** self.rng.uniform(0, 3)
        return without.exact + np.rint(drawn).astype(np.int64) + FAR

    def index(self, told):
        return int(self.rng.integers(len(told)))

    def weights(self, without, with_row):
        size, spread = 10.0 ** self.rng.uniform(-1, 1.5), np.linalg.cholesky(without.precision)
        return np.linalg.solve(without.precision, size * without.possible.random(spread, self.rng))


def all_told(steps):
    """Return what all outputs together tell."""
    return math.fsum(step.told for step in steps)


def all_paid(receipts):
    """Return what all receipts together cost."""
    return math.fsum(map(pure_epsilon, receipts))


class Recorder(Replay):
    """Lets every mechanism draw, and notes what it drew."""

    def laplace(self, exact, **options):
        noisy, receipt = discrete_laplace(exact, **options)
        self.outputs.append(noisy)
        return noisy, receipt

    def choice(self, exact, **options):
        index, receipt = permute_and_flip(exact, **options)
        self.outputs.append(index)
        return index, receipt

    def minimiser(self, objective, grid, **options):
        weights, receipt = release_minimiser(objective, grid, **options)
        self.outputs.append(weights * 2.0**grid.exponent)
        return weights, receipt

    def drawn(self, rows):
        """Fit a table, and return what was drawn, release by release."""
        self.outputs = []
        self.stop_at(rows)
        return self.outputs


class Recorded:
    """Picks what a real fit drew, of which the last digits hide how equal the sums of trees are."""

    room = 1e-4

    def __init__(self, outputs):
        self.left = list(outputs)

    def counts(self, *_):
        return self.left.pop(0)

    index = weights = counts

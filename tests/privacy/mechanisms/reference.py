"""Plain twins of the samplers: Python integers of any length, one coin at a time.

The same halves give the same samples here as in the kernels, which is how the kernels are tested. The twins
know their randomness only through `Coins`, so a test may also hand them coins that try every outcome and add
up probabilities. Each ``..._attempt`` returns None where the sampler begins again.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction


class Coins:
    """The primitives of `bits`, read from ``halves``; ``StopIteration`` when these run out."""

    def __init__(self, halves: Iterable[int]) -> None:
        self._halves = iter(halves)

    def below(self, m: int) -> int:
        """Return a uniform integer from 0 to ``m - 1``."""
        if m > 2**32:
            return self._below_by_mask(m)
        n_halves = 1 if m <= 2**13 else 2
        values = 1 << 16 * n_halves
        while True:
            whole, low = divmod(self._bits(n_halves) * m, values)
            if low >= values % m:
                return whole

    def happens(self, numerator: int, denominator: int) -> bool:
        """Return True with probability ``numerator / denominator``."""
        return self.below(denominator) < numerator

    def exp_minus_one(self) -> bool:
        """Return True with probability exp(-1)."""
        drawn = self.below(math.factorial(7))
        k = next((k for k in range(2, 8) if drawn >= math.factorial(7) // math.factorial(k)), 8)
        while k >= 8 and self.happens(1, k):
            k += 1
        return k % 2 == 1

    def exp_minus(self, a: int, b: int) -> bool:
        """Return True with probability exp(-a/b)."""
        k = 1
        while (k == 1 or self.happens(1, k)) and self.happens(a, b):
            k += 1
        return k % 2 == 1

    def exp_minus_product(self, k: int, rest: int, top: int) -> bool:
        """Return True with probability exp(-x y), where x = rest / top and y = (2k + x) / (2k + 2)."""
        n = 1
        while (n == 1 or self.happens(1, n)) and self.happens(rest, top) and self._partly(k, rest, top):
            n += 1
        return n % 2 == 1

    def odds(self, a: int, b: int) -> bool:
        """Return True with probability q / (1 + q), q = exp(-a/b)."""
        while self.below(2) == 1:
            if self.exp_minus(a, b):
                return True
        return False

    def _partly(self, k: int, rest: int, top: int) -> bool:
        part = self.below(2 * k + 2)
        return part < 2 * k or (part == 2 * k and self.happens(rest, top))

    def _below_by_mask(self, m: int) -> int:
        while True:
            drawn = self._bits(3) % (1 << (m - 1).bit_length())
            if drawn < m:
                return drawn

    def _bits(self, n_halves: int) -> int:
        return sum(next(self._halves) << (16 * i) for i in range(n_halves))


def laplace_attempt(scale: Fraction, coins: Coins) -> int | None:
    """Try once to draw discrete Laplace noise."""
    part, negative = divmod(coins.below(2 * scale.numerator), 2)
    if not coins.exp_minus(part, scale.numerator):
        return None
    wholes = 0
    while coins.exp_minus_one():
        wholes += 1
    size = (part + scale.numerator * wholes) // scale.denominator
    return _signed(size, negative)


def share_of_noise(scale: Fraction, honest: int, coins: Coins) -> int:
    """Draw one of ``honest`` shares of discrete Laplace noise."""
    return negative_binomial(scale, honest, coins) - negative_binomial(scale, honest, coins)


def negative_binomial(scale: Fraction, honest: int, coins: Coins) -> int:
    """Draw from the negative binomial law of shape 1 / honest and q = exp(-1 / scale)."""
    a, b, total = scale.denominator, scale.numerator, 0
    while 2 * a <= b:
        n_jumps = _until_kept(level_attempt, a, b, honest, coins)
        a *= 2
        total += sum(1 + _until_kept(geometric_attempt, a, b, coins) for _ in range(n_jumps))
    return total + _until_kept(last_attempt, a, b, honest, coins)


def level_attempt(a: int, b: int, honest: int, coins: Coins) -> int | None:
    """Try once to draw the jumps from a law of q = exp(-a/b) beyond one of q^2."""
    if coins.below(honest + 1) != 0:
        return 0
    return _walk(lambda: coins.odds(a, b), honest, coins, k=1) if coins.exp_minus(a, b) else None


def last_attempt(a: int, b: int, honest: int, coins: Coins) -> int | None:
    """Try once to draw from the negative binomial law of q = exp(-a/b)."""
    whole, rest = divmod(a, b)
    return _walk(
        lambda: all(coins.exp_minus_one() for _ in range(whole)) and (rest == 0 or coins.exp_minus(rest, b)),
        honest,
        coins,
    )


def geometric_attempt(a: int, b: int, coins: Coins) -> int | None:
    """Try once to draw from the geometric law of q = exp(-a/b)."""
    part = coins.below(b)
    if not coins.exp_minus(part, b):
        return None
    wholes = 0
    while coins.exp_minus_one():
        wholes += 1
    return (part + b * wholes) // a


def _walk(step: Callable[[], bool], honest: int, coins: Coins, k: int = 0) -> int | None:
    while step():
        if not coins.happens(k * honest + 1, (k + 1) * honest):
            return None
        k += 1
    return k


def _until_kept(attempt: Callable[..., int | None], *arguments: object) -> int:
    while (value := attempt(*arguments)) is None:
        pass
    return value


def gaussian_attempt(sigma: Fraction, coins: Coins) -> int | None:
    """Try once to draw discrete Gaussian noise."""
    k = 0
    while coins.exp_minus(1, 2):
        k += 1
    if not all(coins.exp_minus_one() for _ in range(k * (k - 1) // 2)):
        return None
    offset, negative = divmod(coins.below(2 * math.ceil(sigma)), 2)
    size = math.ceil(k * sigma) + offset
    x = size / sigma - k
    if x >= 1 or _signed(size, negative) is None:
        return None
    # Over the common denominator, as the kernel has it: the same ratio in lowest terms would read other
    # halves.
    rest, top = int(x * sigma.numerator), sigma.numerator
    accepted = all(coins.exp_minus_product(k, rest, top) for _ in range(k + 1))
    return _signed(size, negative) if accepted else None


def permute_and_flip_once(gaps: list[int], rate: Fraction, coins: Coins) -> int:
    """Choose once; an empty list cannot be chosen from."""
    left = list(range(len(gaps)))
    while True:
        pick = coins.below(len(left))
        if _heads(gaps[left[pick]], rate, coins):
            return left[pick]
        left[pick] = left[-1]
        left.pop()


def _heads(gap: int, rate: Fraction, coins: Coins) -> bool:
    whole, rest = divmod(gap * rate.numerator, rate.denominator)
    return all(coins.exp_minus_one() for _ in range(whole)) and (rest == 0 or coins.exp_minus(rest, rate.denominator))


def _signed(size: int, negative: int) -> int | None:
    if size == 0 and negative:  # there is one zero, not two
        return None
    return -size if negative else size

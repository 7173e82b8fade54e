import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.schema import kernels
from tests.loops import loop_over
from tests.schema import reference


def encoded(module, seed: int, dtype: type) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n_columns, n_rows = int(rng.integers(1, 5)), int(rng.integers(0, 40))
    low = rng.uniform(-10, 0, n_columns)
    high = low + rng.uniform(0.1, 20, n_columns)
    n_cells = rng.integers(1, 250, n_columns)
    uniform = rng.random(n_columns) < 0.5
    cuts = [
        np.linspace(a, b, n + 1)[1:-1] if even else np.sort(rng.uniform(a, b, n - 1))
        for a, b, n, even in zip(low, high, n_cells, uniform, strict=True)
    ]
    values = rng.uniform(-12, 12, (n_rows, n_columns))
    values[rng.random(values.shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
    values = values.astype(rng.choice([np.float32, np.float64]))
    edges = [np.array([-np.inf, *own, np.inf]) for own in cuts]
    stride = n_columns + int(rng.integers(0, 3))
    out = np.full(n_rows * stride, 7, dtype=dtype)
    module.encode_numbers(
        values.ravel(), low, high, np.where(uniform, n_cells / (high - low), 0.0),
        np.cumsum([0, *map(len, edges)]), np.concatenate(edges), rng.permutation(stride)[:n_columns], stride, out,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@loop_over("seed", range(40))
def test_the_kernel_agrees_with_its_twin(seed, dtype):
    assert_array_equal(encoded(kernels, seed, dtype), encoded(reference, seed, dtype))


def found(module, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.array([-3.5, -1.0, 0.0, 1.0, 2.0, 5.0, 9.0, 2.0**53]))[: seed % 9]
    values = rng.choice(np.array([-1.0, -0.0, 0.0, 0.5, 5.0, 9.0, 2.0**53, np.nan, np.inf]), size=30 * (seed % 3))
    positions = np.full(len(values), 7)
    module.find_numbers(values, known, positions)
    return positions


@loop_over("seed", range(18))
def test_numbers_are_found_where_the_twin_finds_them(seed):
    assert_array_equal(found(kernels, seed), found(reference, seed))

from papers.agrawal2000.effort import cells, measure


def test_both_algorithms_are_timed():
    ((by_class, local),) = measure(1, 2_000, "gaussian", 1.0)
    assert by_class >= 0
    assert local >= 0


def test_quick_cells_are_four():
    assert len(list(cells("quick"))) == 4
    assert set(cells("quick")) <= set(cells("full"))

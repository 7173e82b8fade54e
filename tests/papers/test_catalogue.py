from pathlib import Path

import pytest

from papers import catalogue
from privet.datasets import UCI_NAMES

ROOT = Path(catalogue.__file__).parent


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_every_paper_can_be_run_and_has_a_page(name):
    paper = catalogue.paper(name)
    assert paper.name == name
    assert set(paper.tables) <= set(UCI_NAMES)
    assert (ROOT / catalogue.folder(name) / "README.md").is_file()


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_experiments_of_a_paper_have_names_and_columns_of_their_own(name):
    experiments = catalogue.paper(name).experiments
    assert len({experiment.name for experiment in experiments}) == len(experiments) > 0
    for experiment in experiments:
        assert len(set(experiment.header)) == len(experiment.header)


@pytest.mark.parametrize("name", catalogue.NAMES)
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_cell_has_a_value_for_every_setting_and_none_comes_twice(name, scale):
    for experiment in catalogue.paper(name).experiments:
        cells = list(experiment.cells(scale))
        assert cells
        assert {len(cell) for cell in cells} == {len(experiment.settings)}
        assert len(set(map(experiment.told, cells))) == len(cells)


def test_a_quick_run_of_everything_is_small_beside_a_full_one():
    count = {
        scale: sum(len(list(e.cells(scale))) for name in catalogue.NAMES for e in catalogue.paper(name).experiments)
        for scale in ("quick", "full")
    }
    assert 3 * count["quick"] < count["full"]


def test_a_folder_is_a_python_package():
    assert catalogue.folder("fletcher2015-dp-rf") == "fletcher2015_dp_rf"

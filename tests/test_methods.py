"""The table of methods, and what follows from it."""

import subprocess
import sys

import pytest

from privet import methods, registry
from privet.errors import ModelFileError

ROOMS = {"central": registry.METHODS, "local": registry.LOCAL_METHODS, "partitioned": registry.PARTY_METHODS}


@pytest.mark.parametrize("method", methods.METHODS, ids=lambda method: method.name)
def test_a_method_is_what_its_class_says(method):
    estimator = ROOMS[method.room][method.name]
    assert (estimator.__name__, estimator.__module__) == (method.class_name, method.home)
    assert estimator.method == method.name
    assert hasattr(estimator, "partial_fit") == method.takes_updates


def test_names_and_classes_are_in_the_table_once():
    for field in ("name", "class_name", "help"):
        values = [getattr(method, field) for method in methods.METHODS]
        assert len(set(values)) == len(values)


def test_the_rooms_hold_all_methods():
    assert [name for room in ROOMS.values() for name in room] == [method.name for method in methods.METHODS]


def test_a_class_is_imported_when_it_is_asked_for():
    code = (
        "import sys; from privet import registry; names = list(registry.METHODS);"
        "print([m for m in sys.modules if m.startswith(('privet.central.', 'privet.local.', 'sklearn'))]);"
        "registry.METHODS['private-rdt'];"
        "print('privet.central.private_rdt' in sys.modules, 'privet.central.dpdf' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True False"]


def test_a_file_of_an_unknown_method_is_refused_with_the_way_out():
    for method in ("magic", ["private-rdt"], None):
        with pytest.raises(ModelFileError, match="a method that this privet does not know; update privet"):
            registry.model_of({"method": method}, "m.privet")


# What all have, or a class checks in its own words.
COMMON = {"schema", "epsilon", "unit", "max_rows", "ledger", "random_state", "n_jobs", "verbose", "unsafe_seeded_noise"}
OWN_WORDS = {"class_weight", "delta", "max_features", "parties", "channel", "person"}


@pytest.mark.parametrize("method", methods.METHODS, ids=lambda method: method.name)
def test_every_parameter_has_a_declared_range_that_its_default_is_in(method):
    model = ROOMS[method.room][method.name]()
    assert set(model.get_params()) - COMMON - OWN_WORDS == set(model.constraints)
    assert all(constraint.allows(getattr(model, name)) for name, constraint in model.constraints.items())

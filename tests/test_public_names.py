import subprocess
import sys

import pytest

import privet


def test_every_public_name_is_there_and_listed():
    for name in privet.__all__:
        assert getattr(privet, name) is not None
        assert name in dir(privet)


def test_nothing_but_public_names_is_listed():
    import privet.central

    assert dir(privet) == sorted(privet.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'privet' has no attribute 'Magic'"):
        privet.Magic  # noqa: B018


def test_importing_privet_loads_no_heavy_library():
    code = (
        "import sys, privet; print([m for m in ('numpy', 'numba', 'sklearn', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

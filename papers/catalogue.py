"""The papers that privet reproduces, in the order of their numbers in the documentation."""

from importlib import import_module

from papers.paper import Paper

NAMES = ("jagannathan2012", "fletcher2015-dp-rf", "fletcher2015-dpdf", "agrawal2000", "szucs2013")


def folder(name: str) -> str:
    """Return the name of a paper's folder, which is also that of a Python package."""
    return name.replace("-", "_")


def paper(name: str) -> Paper:
    """Return the paper called ``name``; its experiments are imported only now."""
    found = import_module(f"papers.{folder(name)}.run").PAPER
    assert isinstance(found, Paper)
    return found

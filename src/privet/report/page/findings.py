"""Who speaks for the numbers that a model released: chosen here, and nowhere else."""

from typing import Any, Protocol, cast

from privet.report.page import count_findings, weight_findings


class Findings(Protocol):
    """What a module that speaks for one kind of released numbers can tell."""

    def forest(self, model: Any) -> dict[str, Any]:
        """Return how large the forest is: at least its trees and their height."""

    def released_values(self, model: Any) -> int:
        """Return how many numbers left the room."""

    def noise(self, model: Any) -> dict[str, Any]:
        """Return how strong the noise is, set against what it was added to."""

    def smallest_noise(self, model: Any, deviations: list[float]) -> float:
        """Return the standard deviation at the head of the page; ``noise`` has its ``figure``'s name."""

    def read_off(self, model: Any) -> dict[str, Any]:
        """Return the class balance, importances, and what else the numbers say."""

    def in_words(self, noise: dict[str, Any]) -> str:
        """Return the noise in one sentence."""

    def sections(self, model: Any, facts: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
        """Return the sections of the page, and what its script needs for them."""


def findings_of(model: Any) -> Findings | None:
    """Return who speaks for the model's numbers; nobody where they are neither counts nor weights."""
    if hasattr(model, "nodes_"):
        return cast("Findings", count_findings)
    return cast("Findings", weight_findings) if hasattr(model, "released_") else None

"""What ``privet fit`` does with answers that were disturbed at the source: it costs nothing further."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli import output
from privet.cli.options import check_known
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.local import Channel

COSTS_NOTHING = "it costs nothing further, since the answers were disturbed at the source"
_NEEDS_CHANNEL = (
    "a {} is grown from answers through a channel, which it has to know; pass the file that `privet perturb` wrote "
    "with --channel"
)
_INFERRED = (
    "the channel's schema is marked as inferred in places, so answers, channel and model give away what was read from "
    "clear rows; the model records it as a leak"
)
# What a fit by a trusted curator has and this one has not.
_OF_A_CURATOR = ("epsilon", "delta", "unit", "max_rows", "ledger", "dataset", "part", "variant")


def is_local(method: str) -> bool:
    """Return whether the method is one of disturbed records."""
    from privet.registry import LOCAL_METHODS

    return method in LOCAL_METHODS


def refuse_local(method: str, why: str) -> None:
    """Refuse a method of disturbed records where a verb has nothing to do for it, with the reason and the way out."""
    if is_local(method):
        raise ParameterError(f"--method {method} is grown from disturbed answers: {why}")


def refuse_what_is_not_local(method: str, channel: Path | None, strategy: str | None) -> None:
    """Refuse what only a method of disturbed records takes."""
    if channel is not None:
        check_known(method)
        from privet.local import Channel

        raise ParameterError(
            f"--method {method} is for clear rows of a trusted curator and knows no --channel; fit disturbed answers "
            f"with --method {_fitting(Channel.load(channel))}"
        )
    if strategy is not None:
        raise ParameterError(f"--strategy does not apply to {method}; leave it out, or choose another --method")


@dataclass(frozen=True)
class LocalOptions:
    """What describes a model of disturbed answers on the command line."""

    method: str
    channel: Path | None
    schema: Path | None
    strategy: str | None
    trees: int | None
    height: int | None
    jobs: int

    def estimator(self, given: Sequence[str], random_state: int | None) -> Any:
        """Return the unfitted model; ``given`` names the parameters that were on the command line."""
        self._refuse_a_curators(given)
        if self.channel is None:
            raise ParameterError(_NEEDS_CHANNEL.format(self.method))
        from privet.local import Channel
        from privet.registry import LOCAL_METHODS

        channel = Channel.load(self.channel)
        self._check_fits(channel)
        estimator = LOCAL_METHODS[self.method](
            self.schema, channel=channel, random_state=random_state, n_jobs=self.jobs
        )
        estimator.set_params(**self._asked_for(estimator.get_params()))
        estimator.check_parameters()
        if channel.schema.leaks:
            output.say(_INFERRED)
        return estimator

    def checked(self, rows: Path, channel: "Channel") -> Path:
        """Return the file of answers; one through another channel is refused, and one that looks so is remarked on."""
        from privet.cli.answer_check import hint_at_other_rows, refuse_other_answers

        refuse_other_answers(rows, channel)
        hint_at_other_rows(rows, channel)
        return rows

    def _refuse_a_curators(self, given: Sequence[str]) -> None:
        curators = [name for name in _OF_A_CURATOR if name in given]
        if curators:
            option = f"--{curators[0].replace('_', '-')}"
            raise ParameterError(f"{option} does not apply to {self.method}: {COSTS_NOTHING}; leave it out")

    def _check_fits(self, channel: "Channel") -> None:
        """Refuse a channel that another method is for, in the words of the command line."""
        fitting = _fitting(channel)
        if fitting != self.method and (channel.record is not None or channel.label is not None or _adds_noise(channel)):
            raise ParameterError(
                f"answers through this channel cannot be fitted by --method {self.method}; choose --method {fitting}"
            )

    def _asked_for(self, known: Mapping[str, Any]) -> dict[str, Any]:
        names = {"--trees": ("n_trees",), "--height": ("height", "max_depth"), "--strategy": ("strategy",)}
        values = {"--trees": self.trees, "--height": self.height, "--strategy": self.strategy}
        asked = {}
        for option, value in values.items():
            own = [name for name in names[option] if name in known]
            if value is not None and not own:
                raise ParameterError(
                    f"{option} does not apply to {self.method}; leave it out, or choose another --method"
                )
            if value is not None:
                asked[own[0]] = value
        return asked


def _fitting(channel: "Channel") -> str:
    """Return the method that answers through ``channel`` are for."""
    whole = channel.record is not None or channel.label is not None
    return "random-response-forest" if whole else "reconstruction-tree"


def _adds_noise(channel: "Channel") -> bool:
    from privet.local.columns import AddedNoise

    return any(isinstance(column, AddedNoise) for column in channel.columns)

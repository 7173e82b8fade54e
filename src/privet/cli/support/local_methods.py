"""Methods for answers that were disturbed at the source: which there are, what they take, and how they are fitted."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support import output
from privet.cli.support.option_values import Given, refuse_given
from privet.cli.support.options import check_known
from privet.errors import NoGuaranteeWarning, ParameterError
from privet.methods import methods_of

if TYPE_CHECKING:
    from privet.local import Channel

COSTS_NOTHING = "it costs nothing further, since the answers were disturbed at the source"
_NEEDS_CHANNEL = (
    "a {} needs the channel that the answers came through; pass the file that `privet perturb` wrote with --channel"
)
_INFERRED = (
    "the channel's schema is marked as inferred in places, so answers, channel and model give away what was read from "
    "clear rows; the model records it as a leak"
)
# Options for a fit by a trusted curator, which do not apply here.
_CURATOR_OPTIONS = (
    "epsilon", "delta", "unit", "max_rows", "ledger", "dataset", "part", "variant", "tune", "class_weight",
    "increasing", "decreasing",
)  # fmt: skip


def is_local(method: str) -> bool:
    """Return whether the method is one of disturbed records."""
    return any(method == known.name for known in methods_of("local"))


def refuse_local(method: str, why: str) -> None:
    """Refuse a method of disturbed records where a verb has nothing to do for it, with the reason and the way out."""
    if is_local(method):
        raise ParameterError(f"--method {method} is grown from disturbed answers: {why}")


def refuse_what_is_not_local(method: str, channel: Path | None, strategy: str | None, person: str | None) -> None:
    """Refuse what only a method of disturbed records takes."""
    if channel is not None:
        check_known(method)
        raise ParameterError(
            f"--method {method} is for clear rows of a trusted curator and takes no --channel; fit disturbed answers "
            f"with --method {best_method(channel)}"
        )
    for option, value in (("--strategy", strategy), ("--id", person)):
        if value is not None:
            raise ParameterError(f"{option} does not apply to {method}; leave it out, or choose another --method")


def refuse_curator_options(method: str, given: Given, others: Sequence[str] = _CURATOR_OPTIONS) -> None:
    """Refuse what only a trusted curator's methods take."""
    refuse_given(given, others, f"does not apply to {method}: {COSTS_NOTHING}; leave it out")


def best_method(channel: Path) -> str:
    """Return the method that fits answers through a channel best."""
    return _fitting(channel)[0]


def check_fits(method: str, channel: "Channel") -> None:
    """Refuse a channel that another method is for, in the words of the command line."""
    fitting = _fitting(channel)
    if method not in fitting:
        raise ParameterError(
            f"answers through this channel cannot be fitted by --method {method}; choose --method {fitting[0]}"
        )


def _fitting(channel: "Channel | Path") -> list[str]:
    """Return the methods that can fit answers through a channel, the best first, or refuse it."""
    from privet.local.channels.channel import NO_METHOD, Channel

    fitting = (channel if isinstance(channel, Channel) else Channel.load(channel)).fitted_by
    if not fitting:
        raise ParameterError(NO_METHOD)
    return fitting


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
    person: str | None = None

    def estimator(self, given: Given, random_state: int | None) -> Any:
        """Return the unfitted model; ``given`` has the options of the command line."""
        refuse_curator_options(self.method, given)
        if self.channel is None:
            raise ParameterError(_NEEDS_CHANNEL.format(self.method))
        from privet.local import Channel
        from privet.registry import LOCAL_METHODS

        channel = Channel.load(self.channel)
        check_fits(self.method, channel)
        estimator = LOCAL_METHODS[self.method](
            self.schema, channel=channel, random_state=random_state, n_jobs=self.jobs, person=self.person
        )
        estimator.set_params(**self._parameters(estimator.get_params()))
        estimator.check_parameters()
        if channel.schema.leaks:
            output.say(_INFERRED)
        return estimator

    def fit(self, model: Any, rows: Path) -> None:
        """Fit to a file of answers; one through another channel is refused, and one that looks so is remarked on."""
        from privet.cli.support.disturbed_rows import refuse_other_answers

        refuse_other_answers(rows, model.channel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoGuaranteeWarning)  # said below, in one line
            model.fit(rows)
        if model.guarantee_.doubts:
            output.say(f"{model.guarantee_.reason}; make sure that `privet perturb` wrote them with this channel")

    def _parameters(self, known: Mapping[str, Any]) -> dict[str, Any]:
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

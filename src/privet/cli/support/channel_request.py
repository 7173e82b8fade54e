"""The channel that the options of ``privet perturb`` ask for, and the file of publicly known frequencies."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from privet.cli.support import output
from privet.errors import DataError, ParameterError
from privet.files.documents import read_json

if TYPE_CHECKING:
    from privet.local import Channel, Coding
    from privet.schema import Attribute, Label, Schema

Frequencies: TypeAlias = "dict[str, dict[Label | None, float]]"
Quartiles: TypeAlias = dict[str, list[float]]
# The file of frequencies: the cells of a number are named "0", "1", ...; an empty name stands for a missing value.
SHAPE = '{"frequencies": {"sex": {"female": 0.5, "male": 0.5}}, "quartiles": {"age": [28, 41, 57]}}'

Noise: TypeAlias = Literal[
    "uniform", "gaussian", "laplace", "intervals", "randomized-response", "record-complement", "field-sampling"
]
# Which options say how strongly values are disturbed; of intervals the schema may say it too.
_STRENGTHS: dict[str, tuple[str, ...]] = {
    "uniform": ("--privacy", "--scale"),
    "gaussian": ("--privacy", "--scale"),
    "laplace": ("--privacy", "--scale", "--epsilon"),
    "intervals": ("--privacy", "--bins"),
    "randomized-response": ("--epsilon", "--keep"),
    "record-complement": ("--theta",),
    "field-sampling": ("--epsilon",),
}
_OF_NUMBERS = ("uniform", "gaussian", "laplace", "intervals")
_OF_CATEGORIES = ("--keep", "--categories-epsilon")
_OTHERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_NUMBERS, (*_OF_CATEGORIES, "--column", "--clear", "--label", "--covers-missing")),
    "randomized-response": ("--bins", "--column", "--clear", "--label", "--covers-missing"),
    "record-complement": ("--label", "--frequencies", "--infer-frequencies"),
    "field-sampling": ("--bins", "--ask", "--pair", "--field-epsilon", "--wave"),
}
_LEAK = (
    "--infer-frequencies reads how frequent values are from the clear rows, and the published channel gives that "
    "away: it is recorded there as a leak; pass what is publicly known with --frequencies instead"
)


@dataclass(frozen=True)
class ChannelRequest:
    """What was asked for; an option that was not given is None, empty or False."""

    noise: Noise | None
    privacy: float | None = None
    confidence: float = 95.0
    scale: float | None = None
    epsilon: float | None = None
    keep: float | None = None
    categories_epsilon: float | None = None
    theta: float | None = None
    bins: int | None = None
    columns: Sequence[str] = ()
    clear: Sequence[str] = ()
    label: bool = False
    covers_missing: bool = False
    frequencies: Path | None = None
    infer_frequencies: bool = False
    ask: int | None = None
    pairs: Sequence[str] = ()
    field_epsilons: Sequence[str] = ()
    wave: str | None = None

    def channel(self, schema: "Schema", rows: Path | None) -> "Channel":
        """Return the channel; ``rows`` are read only where frequencies are to be inferred."""
        if self.noise is None:
            raise ParameterError("--noise says what happens to the rows; name one")
        self._check(self.noise)
        if self.noise == "record-complement":
            return self._of_records(schema, rows)
        if self.noise == "field-sampling":
            return self._of_questions(schema)
        chosen = self._chosen(schema)
        if self.noise == "randomized-response":
            return self._random_answers(schema, chosen, epsilon=self.epsilon)
        return self._of_numbers(schema, chosen)

    def _check(self, noise: str) -> None:
        given, strengths = self.given, _STRENGTHS[noise]
        strange = [option for option in given if option not in ("--noise", *strengths, *_OTHERS[noise])]
        if strange:
            raise ParameterError(f"{strange[0]} does not apply to --noise {noise}; leave it out")
        n_strengths = sum(option in strengths for option in given)
        if n_strengths > 1 or (n_strengths == 0 and noise != "intervals"):
            one_of = "" if len(strengths) == 1 else "one of "
            raise ParameterError(
                f"--noise {noise} takes {one_of}{_listed(strengths)}: it says how strongly values are disturbed"
            )
        if all(option in given for option in _OF_CATEGORIES):
            raise ParameterError("--keep and --categories-epsilon both say how categories are answered; leave one out")
        self._check_percent()

    @property
    def given(self) -> list[str]:
        """The options that were given, apart from the confidence, which has a default."""
        values = {
            "--noise": self.noise,
            "--privacy": self.privacy, "--scale": self.scale, "--epsilon": self.epsilon, "--keep": self.keep,
            "--categories-epsilon": self.categories_epsilon, "--theta": self.theta, "--bins": self.bins,
            "--column": self.columns or None, "--clear": self.clear or None, "--label": self.label or None,
            "--covers-missing": self.covers_missing or None, "--frequencies": self.frequencies,
            "--infer-frequencies": self.infer_frequencies or None, "--ask": self.ask, "--pair": self.pairs or None,
            "--field-epsilon": self.field_epsilons or None, "--wave": self.wave,
        }  # fmt: skip
        return [option for option, value in values.items() if value is not None]

    def _check_percent(self) -> None:
        if not 0 < self.confidence < 100:
            raise ParameterError(f"--confidence {self.confidence:g} must lie between 0 and 100 percent")
        if self.privacy is None:
            return
        most = 100 if self.noise == "intervals" else float("inf")
        if not 0 < self.privacy < most:
            upto = " and below 100" if self.noise == "intervals" else ""
            raise ParameterError(
                f"--privacy {self.privacy:g} must be above 0{upto}: it is in percent, and 100 hides a value in an "
                "interval as wide as its range"
            )

    def _chosen(self, schema: "Schema") -> list[str]:
        """Return the attributes to disturb, in the schema's order."""
        unknown = [name for name in (*self.columns, *self.clear) if name not in schema.names]
        if unknown:
            raise ParameterError(f"the schema has no attribute {unknown[0]!r}; {meant(unknown[0], schema.names)}")
        both = [name for name in self.columns if name in self.clear]
        if both:
            raise ParameterError(f"{both[0]!r} is asked for by --column and by --clear; leave one of them out")
        wanted = self.columns or schema.names
        return [name for name in schema.names if name in wanted and name not in self.clear]

    def _of_numbers(self, schema: "Schema", chosen: list[str]) -> "Channel":
        """Return noise on the numbers among the chosen and, where asked for, random answers to the categories."""
        from privet.schema import Numeric

        numbers = [a.name for a in schema.attributes if a.name in chosen and isinstance(a, Numeric)]
        categories = [name for name in chosen if name not in numbers]
        at_random = self.keep is not None or self.categories_epsilon is not None
        if not numbers:
            raise ParameterError(
                f"no number is left for --noise {self.noise}; for categories alone use --noise randomized-response"
            )
        if not at_random and (self.columns and categories):
            raise ParameterError(
                f"{categories[0]!r} has categories, to which no number can be added; add {_listed(_OF_CATEGORIES)} to "
                "have it answered at random, or leave it out"
            )
        if not at_random and (self.label or self.covers_missing):
            option = "--label" if self.label else "--covers-missing"
            raise ParameterError(f"{option} is for random answers; add {_listed(_OF_CATEGORIES)}, or leave it out")
        noisy: Channel = self._transformer()(schema, columns=numbers, **self._strength()).channel
        if not at_random or not (categories or self.label):
            return noisy
        return noisy | self._random_answers(schema, categories, epsilon=self.categories_epsilon)

    def _transformer(self) -> Any:
        from privet import local

        names = {"uniform": "UniformNoise", "gaussian": "GaussianNoise", "laplace": "LaplaceNoise"}
        return getattr(local, names.get(str(self.noise), "Intervals"))

    def _strength(self) -> dict[str, Any]:
        given = {"scale": self.scale, "epsilon": self.epsilon, "bins": self.bins}
        asked = {name: value for name, value in given.items() if value is not None}
        if self.privacy is not None:
            asked |= {"privacy": self.privacy / 100, "confidence": self.confidence / 100}
        return asked

    def _random_answers(self, schema: "Schema", columns: list[str], *, epsilon: float | None) -> "Channel":
        from privet.local import RandomizedResponse

        if not columns and not self.label:
            raise ParameterError("no field is left to disturb; leave out some --clear")
        if not columns:
            return self._random_label(schema, epsilon)
        asked = RandomizedResponse(
            schema, epsilon=epsilon, keep=self.keep, columns=columns, label=self.label,
            covers_missing=self.covers_missing,
        )  # fmt: skip
        if self.bins is not None and self.noise == "randomized-response":
            asked.set_params(bins=self.bins)
        return asked.channel

    def _random_label(self, schema: "Schema", epsilon: float | None) -> "Channel":
        from privet.local import Channel
        from privet.local.channels.randomized_response import RandomAnswer

        field, n_classes = schema.target, len(schema.classes)
        if epsilon is None:
            return Channel.of(schema, [], label=RandomAnswer(field, n_classes, float(self.keep or 0)))
        return Channel.of(schema, [], label=RandomAnswer.of_epsilon(field, n_classes, epsilon))

    def _of_records(self, schema: "Schema", rows: Path | None) -> "Channel":
        from privet.local import RecordComplement

        return RecordComplement(schema, theta=self.theta, label=self.label, coding=self._coding(schema, rows)).channel  # type: ignore[arg-type]

    def _of_questions(self, schema: "Schema") -> "Channel":
        from privet.local import FieldSampling

        pairs = [_pair(text, schema.names) for text in self.pairs] or None
        epsilons = dict(_field_epsilon(text) for text in self.field_epsilons) or None
        bins = {} if self.bins is None else {"bins": self.bins}
        epsilon = float(self.epsilon or 0)  # which was checked to be given
        asked = FieldSampling(
            schema, epsilon=epsilon, ask=self.ask or 1, pairs=pairs, epsilons=epsilons, wave=self.wave
        )
        return asked.set_params(**bins).channel  # type: ignore[no-any-return]

    def _coding(self, schema: "Schema", rows: Path | None) -> "Coding | None":
        from privet.local import Coding

        if self.infer_frequencies and self.frequencies is not None:
            raise ParameterError("--frequencies and --infer-frequencies contradict each other; leave one of them out")
        if self.frequencies is not None:
            return Coding.of(schema, *read_frequencies(self.frequencies, schema))
        if not self.infer_frequencies:
            return None
        if rows is None:
            raise ParameterError("--infer-frequencies reads rows; name the table, or pass --frequencies")
        from privet.cli.support.disturbed_rows import whole_table

        output.say(_LEAK)
        return Coding.from_rows(whole_table(rows, schema), schema)


def read_frequencies(path: Path, schema: "Schema") -> tuple[Frequencies, Quartiles]:
    """Return frequencies and quartiles by attribute; names of values become those values."""
    try:
        data = read_json(path)
    except OSError as error:
        raise DataError(f"cannot read the frequencies {str(path)!r}: {error.strerror}; check the path") from None
    except ValueError:
        raise DataError(f"{str(path)!r} is no JSON document; write {SHAPE}") from None
    if not isinstance(data, Mapping) or not data or set(data) - {"frequencies", "quartiles"}:
        raise DataError(f"{str(path)!r} does not hold frequencies and quartiles; write {SHAPE}")
    frequencies, quartiles = data.get("frequencies", {}), data.get("quartiles", {})
    _check_numbers(frequencies, quartiles, path)
    attributes = {a.name: a for a in schema.attributes}
    unknown = [name for name in (*frequencies, *quartiles) if name not in attributes]
    if unknown:
        raise DataError(f"{str(path)!r} names {unknown[0]!r}, which is no attribute of the schema; correct it")
    return {name: _by_value(attributes[name], shares) for name, shares in frequencies.items()}, dict(quartiles)


def _check_numbers(frequencies: Any, quartiles: Any, path: Path) -> None:
    both = isinstance(frequencies, Mapping) and isinstance(quartiles, Mapping)
    shares = [share for own in frequencies.values() for share in _entries(own)] if both else [None]
    cuts = [cut for own in quartiles.values() for cut in (own if isinstance(own, list) else [None])] if both else []
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in [*shares, *cuts]):
        raise DataError(f"{str(path)!r} has entries that are no numbers; write {SHAPE}")


def _entries(own: Any) -> list[Any]:
    return list(own.values()) if isinstance(own, Mapping) else [None]


def _by_value(attribute: "Attribute", shares: Mapping[str, float]) -> "dict[Label | None, float]":
    """Return shares by category, or by the number of a cell; a name that fits none stays and is refused later."""
    from privet.schema import Numeric

    values = range(attribute.n_values) if isinstance(attribute, Numeric) else attribute.categories
    by_name: dict[str, Label | None] = {"": None, **{str(value): value for value in values}}
    by_name |= {str(value).lower(): value for value in values if isinstance(value, bool)}
    return {by_name.get(name, name): float(share) for name, share in shares.items()}


def _pair(text: str, known: Sequence[str]) -> tuple[str, str]:
    """Return the two names in a text; a comma may be part of a name."""
    parts = text.split(",")
    both = [(",".join(parts[:i]).strip(), ",".join(parts[i:]).strip()) for i in range(1, len(parts))]
    fitting = [pair for pair in both if set(pair) <= set(known)]
    if len(fitting) != 1:
        raise ParameterError(f"--pair {text!r} must name two attributes of the schema, such as --pair age,sex")
    return fitting[0]


def _field_epsilon(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        raise ParameterError(f"--field-epsilon {text!r} must be a name and a number, such as age=0.5") from None


def meant(name: str, known: Sequence[str]) -> str:
    """Return the way out where ``name`` is none of those known: the one that was probably meant, or all."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(known)}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last

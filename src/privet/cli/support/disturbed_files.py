"""The files of ``privet perturb``: clear rows and a secret, which stay, and what may leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from privet.cli.support.answers import STDOUT, check_destination
from privet.cli.support.files import check_output
from privet.errors import ParameterError

_WITHOUT_ONE = (
    "a secret is needed: it fixes each person's answers, so that asking twice tells no more; name a file with "
    "--secret, which is made if it is not there"
)


@dataclass(frozen=True)
class DisturbedFiles:
    """What is read and written; the channel is not written where it was given."""

    rows: Path
    secret: Path
    answers: Path
    channel: Path | None

    @classmethod
    def chosen(
        cls,
        rows: Path | None,
        secret: Path | None,
        answers: Path | None,
        described: Path | None,
        published: Path | None,
    ) -> "DisturbedFiles":
        """Return the files that were named, and names for the others; the channel is ``described`` or ``published``."""
        if rows is None:
            raise ParameterError("name the table of clear rows: .csv, .csv.gz or .parquet; --explain alone needs none")
        if secret is None:
            raise ParameterError(_WITHOUT_ONE)
        if published is not None and described is not None:
            raise ParameterError("--channel-output does not go with --channel, which is there already; leave it out")
        stem = _stem(rows)
        ending = rows.name.removeprefix(stem).replace(".pq", ".parquet") or ".csv"
        answers = answers or rows.with_name(f"{stem}.disturbed{ending}")
        beside = rows if answers == STDOUT else answers
        described = described or beside.with_name(f"{_stem(beside).removesuffix('.disturbed')}.channel.json")
        return cls(rows, secret, answers, None if published is not None else described)

    @property
    def to_stdout(self) -> bool:
        """Whether the answers go to stdout, from where nothing can be taken back."""
        return self.answers == STDOUT

    def check(self, *, force: bool, inputs: Sequence[Path]) -> None:
        """Refuse files that cannot or should not be written, before any row is read."""
        read = (*inputs, self.secret)
        check_destination(self.answers, what="answers", force=force, inputs=read)
        if self.channel is not None:
            check_output(self.channel, force=force, inputs=read)
        written = [path.resolve() for path in (self.answers, self.secret, self.channel) if path is not None]
        if len(set(written)) < len(written):
            raise ParameterError("answers, channel and secret are three files; give each its own name")


def _stem(table: Path) -> str:
    name = table.name.removesuffix(".gz")
    return next((name.removesuffix(end) for end in (".csv", ".parquet", ".pq") if name.endswith(end)), name)

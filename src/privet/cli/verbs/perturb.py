"""``privet perturb``: the respondent's side. Clear rows in, and out only what may leave."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from privet.cli.support import options, output
from privet.cli.support import perturb_options as own
from privet.cli.support.channel_request import ChannelRequest
from privet.cli.support.files import stamp
from privet.cli.support.options import reads_csv
from privet.cli.support.row_output import write_answers
from privet.errors import ParameterError, PrivetError
from privet.files.whole_file import whole_file

if TYPE_CHECKING:
    from privet.cli.support.disturbed_rows import DisturbedFiles, DisturbedRows
    from privet.local import Channel, Secret

_BY_PLACE = (
    "people are told apart by their place in this file, so the secret is of no use for another file, or for this one "
    "once anything in it has changed; to ask the same people again, name the column that tells them apart with --id"
)
_INFERRED = (
    "the schema is marked as inferred or accepted in places, so the channel gives away what was read from the rows; "
    "declare what is public and delete the marks"
)
_NO_CHANNEL = (
    "say what happens to the rows: --schema and --noise with its strength, such as --noise gaussian --privacy 100, or "
    "--channel with a published file"
)


@reads_csv
def perturb(
    rows: own.Rows = None,
    schema: own.SchemaFile = None,
    noise: own.NoiseKind = None,
    channel: own.ChannelFile = None,
    frequencies: own.Frequencies = None,
    infer_frequencies: own.InferFrequencies = False,
    privacy: own.Privacy = None,
    confidence: own.Confidence = 95.0,
    scale: own.Scale = None,
    epsilon: own.Epsilon = None,
    keep: own.Keep = None,
    categories_epsilon: own.CategoriesEpsilon = None,
    theta: own.Theta = None,
    ask: own.Ask = None,
    pairs: own.Pairs = None,
    field_epsilons: own.FieldEpsilons = None,
    wave: own.Wave = None,
    max_epsilon: own.MaxEpsilon = None,
    bins: own.Bins = None,
    columns: own.Columns = None,
    clear: own.Clear = None,
    label: own.Label = False,
    covers_missing: own.CoversMissing = False,
    person: own.Person = None,
    keep_id: own.KeepId = False,
    secret: own.SecretFile = None,
    answers: own.Answers = None,
    channel_output: own.ChannelOutput = None,
    explain: own.Explain = False,
    progress: options.Progress = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Disturb clear rows before they leave their owner, and write the answers and the channel that they came through.

    Whoever gets both can tell how values are spread, and fit trees, without a clear row.

    Everyone answers once: the same secret gives the same answers again, and refuses another channel for a field.

    Example:  privet perturb rows.csv --schema schema.json --noise uniform --privacy 100 --id person --secret key

    Example:  privet perturb rows.csv --channel channel.json --id person --secret key -o answers.csv

    Example:  privet perturb rows.csv --schema schema.json --noise field-sampling --epsilon 1 --id person --secret key

    Example:  privet perturb --schema schema.json --noise laplace --epsilon 4 --explain
    """
    asked = ChannelRequest(
        noise, privacy, confidence, scale, epsilon, keep, categories_epsilon, theta, bins, columns or (), clear or (),
        label, covers_missing, frequencies, infer_frequencies, ask, pairs or (), field_epsilons or (), wave,
    )  # fmt: skip
    source = _Source(asked, channel, schema, rows, max_epsilon)
    if explain:
        from privet.cli.support.channel_tables import print_measures

        described = source.channel()
        _say_what_is_inferred(described)
        print_measures(described, rows, person, as_json=as_json)
        return
    from privet.cli.support.disturbed_rows import DisturbedFiles

    files = DisturbedFiles.chosen(rows, secret, answers, channel_output, channel)
    files.check(force=force, inputs=[path for path in (rows, schema, channel, frequencies) if path is not None])
    if files.to_stdout and as_json:
        raise ParameterError("--json and the answers would both go to stdout; name a file for the answers with -o")
    described = source.channel()
    source.check(described)
    _say_what_is_inferred(described)
    table = _write(described, files, person, keep_id=keep_id, max_epsilon=max_epsilon, lines=progress)
    _say_what_is_missing(table)
    source.say_what_is_clear(described)
    _say_what_was_done(described, files, as_json=as_json)


@dataclass(frozen=True)
class _Source:
    """Where the channel comes from: what was asked for, or a published one."""

    asked: ChannelRequest
    published: Path | None
    schema: Path | None
    rows: Path | None
    max_epsilon: float | None = None

    def channel(self) -> "Channel":
        from privet.local import Channel

        if self.published is None:
            if self.asked.noise is None:
                raise ParameterError(_NO_CHANNEL)
            return self.asked.channel(options.load_schema(self.schema).for_answers(), self.rows)
        # With a limit of their own, respondents say what of a published channel they give as it is.
        may_go = () if self.max_epsilon is None else ("--clear",)
        given = [option for option in self.asked.given if option not in may_go]
        given += ["--schema"] if self.schema is not None else []
        if given:
            raise ParameterError(f"{given[0]} does not go with --channel, which says all of it; leave one of them out")
        channel = Channel.load(self.published)
        if channel.is_clear:
            raise ParameterError(f"{str(self.published)!r} disturbs nothing; pass a channel that does")
        return channel

    def check(self, channel: "Channel") -> None:
        """Refuse a channel beyond the limit, or that no method can fit; say it loudly where it keeps everything."""
        from privet.local.channels.channel import NO_METHOD
        from privet.local.channels.perturb import kept_fields, refuse_beyond
        from privet.privacy.guarantee import few

        if self.max_epsilon is not None:
            refuse_beyond(self.max_epsilon, channel, self.asked.clear)
        if kept := kept_fields(channel):
            output.say(f"NOT PRIVATE: the channel always keeps {few(kept)}, so these answers are the clear values")
        if not channel.fitted_by:
            raise ParameterError(NO_METHOD)

    def say_what_is_clear(self, channel: "Channel") -> None:
        """Name the attributes that are given as they are although nobody asked for it."""
        from privet.privacy.guarantee import few

        asked = (*channel.disturbed, *self.asked.clear)
        clear = [name for name in channel.schema.names if name not in asked]
        if not clear:
            return
        given = "attribute is given as it is" if len(clear) == 1 else "attributes are given as they are"
        output.say(f"{len(clear)} {given}: {few(clear)}; {self._way_out(len(clear))}")

    def _way_out(self, n_clear: int) -> str:
        them = "it" if n_clear == 1 else "them"
        if self.published is not None:
            return "the channel has it so"
        if self.asked.columns:
            return f"hide {them} by naming {them} with --column"
        return f"hide {them} with --keep or --categories-epsilon"


@contextmanager
def _secret_file(path: Path, has_answered: Callable[[], bool]) -> "Iterator[Secret]":
    """Yield the secret, and say where a new one is; where nothing was answered with it, it is removed."""
    from privet.local import Secret

    existed, secret = path.exists(), Secret(path)
    try:
        yield secret
    except BaseException:
        # What has gone out cannot be answered again: with another secret, both answers would average the noise away.
        if has_answered() or not _is_removed(secret):
            _say_new_secret(path, existed=existed)
        raise
    _say_new_secret(path, existed=existed)


def _is_removed(secret: "Secret") -> bool:
    with suppress(PrivetError):  # the first error is the one to report
        return secret.remove_if_unused()
    return False


def _say_new_secret(path: Path, *, existed: bool) -> None:
    if not existed:
        output.say(
            f"a new secret was written to {str(path)!r}, for you alone to read: keep it with the clear rows, and from "
            "whoever gets the answers"
        )


def _write(
    channel: "Channel",
    files: "DisturbedFiles",
    person: str | None,
    *,
    keep_id: bool,
    max_epsilon: float | None,
    lines: bool,
) -> "DisturbedRows":
    """Write the answers and the channel, both or none, and return the answers."""
    from privet.cli.support.disturbed_rows import DisturbedRows

    table: DisturbedRows | None = None
    before = stamp(files.answers)

    def has_answered() -> bool:
        if files.to_stdout:
            return table is not None and table.has_answered
        # By the file itself: answers that have their name are out, whatever happens in the next moment.
        return stamp(files.answers) != before

    with _secret_file(files.secret, has_answered) as secret:
        table = DisturbedRows(files.rows, channel, secret, person, keep_id, max_epsilon)
        if files.to_stdout:
            _write_stdout(table, files, lines=lines)
            return table
        with ExitStack() as stack:
            if files.channel is not None:
                channel.write(stack.enter_context(whole_file(files.channel)))
            write_answers(table, files.answers, done="disturbed", lines=lines, as_json=None)
    return table


def _write_stdout(table: "DisturbedRows", files: "DisturbedFiles", *, lines: bool) -> None:
    """Write the answers to stdout, and the channel if any of them went out, even where a reader went away."""
    table.check_persons()
    try:
        write_answers(table, files.answers, done="disturbed", lines=lines, as_json=None)
    finally:
        if files.channel is not None and table.has_answered:
            table.channel.save(files.channel)


def _say_what_is_inferred(channel: "Channel") -> None:
    if channel.schema.leaks:
        output.say(_INFERRED)


def _say_what_is_missing(table: "DisturbedRows") -> None:
    if table.person is None:
        output.say(_BY_PLACE)
    if not table.has_label:
        output.say(f"the file has no column {table.channel.schema.target!r}, so the answers have no label")
    if table.left_out:
        names = ", ".join(repr(name) for name in table.left_out[:3])
        more = f" and {len(table.left_out) - 3} more" if len(table.left_out) > 3 else ""
        output.say(f"left out, since the channel does not know them: {names}{more}")


def _say_what_was_done(channel: "Channel", files: "DisturbedFiles", *, as_json: bool) -> None:
    from privet.cli.support.channel_tables import print_channel
    from privet.local.guarantee import LocalGuarantee

    guarantee = LocalGuarantee(channel)
    described = None if files.channel is None else str(files.channel)
    if as_json:
        written = {"answers": str(files.answers), "channel": described, "secret": str(files.secret)}
        methods = {"fitted_by": channel.fitted_by}
        output.print_json({**written, **methods, "guarantee": guarantee.to_json()})
        return
    if files.to_stdout:  # where the answers are, and nothing else may be
        output.say(guarantee.sentence)
        if described is not None:
            output.say(f"the channel was written to {described!r}")
        return
    output.print_text(guarantee.sentence)
    output.print_text()
    print_channel(guarantee)
    output.print_text()
    output.print_text(f"fitted by: {' or '.join(f'--method {name}' for name in channel.fitted_by)}")
    output.print_text(f"answers: {files.answers}")
    if described is not None:
        output.print_text(f"channel: {described}")

"""``privet update``: add a batch of new rows to a released model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from privet.cli.support import options, output
from privet.cli.support.files import PendingModel, check_output, stamp
from privet.cli.support.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.support.options import reads_csv
from privet.cli.support.progress import Progress
from privet.errors import ModelFileError, ParameterError
from privet.files.file_lock import file_lock
from privet.methods import UPDATED

if TYPE_CHECKING:
    from privet.central.updates.update import RefitAdvice, Update

_STATE = re.compile(r"\d{4}-\d{2}-\d{2}\.privet(\.gz)?")
# A long history is printed in part: the first batch, and so many of the last. --json has all.
_LAST_SHOWN = 10
_SINGLE_ROWS = "single rows that are in two batches are not noticed: that there are none is your promise"


@dataclass(frozen=True)
class UpdateTarget:
    """The model that is read, the file that is written, which may be the same, and the folder if states are kept."""

    source: Path
    path: Path
    folder: Path | None
    stamp: tuple[int, int, int] | None

    @classmethod
    def of(cls, model: Path, destination: Path | None, dated: str | None) -> Self:
        """Return the target that the options name; a date that a folder cannot take is refused."""
        if not model.is_dir():
            return cls(model, destination or model, None, stamp(model))
        if destination is not None:
            raise ParameterError(f"the folder {str(model)!r} keeps its states by date; leave -o out")
        if dated is None:
            raise ParameterError(f"the folder {str(model)!r} keeps states by date; give the batch's with --dated")
        newest = newest_state(model)
        _check_after(dated, newest.name.partition(".")[0], model)
        return cls(newest, model / f"{dated}.privet", model, stamp(newest))

    @property
    def in_place(self) -> bool:
        """Whether the next model follows the one that is read in its own place, or in its folder."""
        if self.folder is not None:
            return True
        return self.source.exists() and self.path.exists() and self.path.samefile(self.source)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other updates of the same model out until this one has written: of two, one would be spent and lost.

        If the next model goes elsewhere, the one that is read stays, and anyone may branch off from it.
        """
        if not (self.in_place and self.source.is_file()):
            yield
            return
        with file_lock(self.folder or self.source, seconds=0) as is_mine:
            if not is_mine:
                raise ModelFileError(
                    f"another update of {str(self.folder or self.source)!r} is being made, and nothing was spent on "
                    "this one; run it again when that is done"
                )
            self.check_unchanged()
            yield

    def check_output(self, *, force: bool, inputs: tuple[Path, ...], ledger: Path | None) -> None:
        """Refuse a file that cannot be written; the model that is updated is there to be replaced."""
        # The states of a folder stay, whatever is forced.
        force = self.folder is None and (force or self.in_place)
        check_output(self.path, force=force, inputs=inputs, ledger=ledger)

    def check_unchanged(self) -> None:
        """Refuse to write over what another update has made meanwhile."""
        overtaken = self.folder is not None and newest_state(self.folder) != self.source
        if overtaken or stamp(self.source) != self.stamp:
            raise ModelFileError(
                f"{str(self.folder or self.source)!r} changed while this update was made, and was left as it is; "
                "update it again (a ledger shows what was spent)"
            )


def newest_state(folder: Path) -> Path:
    """Return the model of the latest date in ``folder``."""
    states = sorted(path for path in folder.iterdir() if _STATE.fullmatch(path.name) and path.is_file())
    if not states:
        raise ParameterError(
            f"the folder {str(folder)!r} holds no model named by a date; begin with a fit and -o "
            "FOLDER/YYYY-MM-DD.privet"
        )
    return states[-1]


def checked_date(dated: str | None) -> str | None:
    """Return a date as it was given, or refuse what is none."""
    from privet.checks import is_day

    if dated is not None and not is_day(dated):
        raise ParameterError(f"--dated {output.printable(dated)!r} is no date; write it as YYYY-MM-DD")
    return dated


def _check_after(dated: str, newest: str, folder: Path) -> None:
    if dated <= newest:
        there = "is there already" if dated == newest else f"is before {newest}, the newest"
        raise ParameterError(
            f"--dated {dated}: that state {there} in {str(folder)!r}, and states stay as they are; give a later date"
        )


@reads_csv
def update(
    model_file: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help=f"A model file of {', '.join(UPDATED[:-1])} or {UPDATED[-1]}, or a folder of such models by date.",
        ),
    ],
    rows: Annotated[
        list[Path], typer.Argument(metavar="ROWS...", help="The new rows only: files as for `privet fit`.")
    ],
    dated: Annotated[
        str | None, typer.Option("--dated", metavar="YYYY-MM-DD", help="The batch's date, after all others.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", metavar="FILE", help="Where cost and batch are recorded, and refused.")
    ] = None,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    jobs: options.Jobs = -1,
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The new model; by default in the old one's place.")
    ] = None,
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:
    """Add a batch of new rows to a model, with fresh noise.

    It costs the model's epsilon, on the new rows alone; noise grows with every batch. A folder keeps one model a date.
    With a ledger, a batch that is in the model already is refused, whatever the order of its rows.

    Example:  privet update model.privet november.parquet --ledger ledger.db

    Example:  privet update models november.parquet --dated 2026-11-01 --ledger ledger.db
    """
    from privet.central.updates.update import Update
    from privet.counting.sources import Files
    from privet.registry import load

    # First: it says what an earlier command left open, whose model may be the state that is there already.
    account = chosen_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    target = UpdateTarget.of(model_file, destination, checked_date(dated))
    target.check_output(force=force, inputs=tuple(rows), ledger=ledger)
    _check_date_has_a_place(dated, target, ledger)
    with target.alone():
        model: Any = load(target.source).set_params(n_jobs=jobs)
        if "ledger" in model.get_params():  # models of disturbed records have none, and take no batch either
            model.set_params(ledger=account)
        batch = Update(model, dated, target.check_unchanged)
        pending = PendingModel(target.path, force or target.in_place, target.check_unchanged)
        with Progress("reading the new rows", lines=progress) as shown:
            files = Files(*rows, watch=shown.read)
            # A pattern or folder may hold what is about to be replaced.
            check_output(target.path, force=True, inputs=files.paths)
            batch.add(files, save=pending.save)
    _say_what_is_not_noticed(batch)
    _tell(model, target, dated, as_json=as_json)


def _check_date_has_a_place(dated: str | None, target: UpdateTarget, ledger: Path | None) -> None:
    if dated is not None and target.folder is None and ledger is None:
        raise ParameterError(
            "--dated is kept as a file's name in a folder, or in a ledger, never in the model; update a folder, pass "
            "--ledger, or leave it out"
        )


def _say_what_is_not_noticed(batch: "Update") -> None:
    if batch.model.ledger is None:
        output.say("no ledger was kept, so a batch that is added a second time cannot be noticed; pass --ledger")
    elif batch.unknown_batches:
        which = "first fit" if batch.unknown_batches == 1 else f"first {batch.unknown_batches:,} batches"
        output.say(
            f"the ledger has no fingerprint of the model's {which}: whether these are the same rows cannot be noticed"
        )
    output.say(_SINGLE_ROWS)


def _tell(model: Any, target: UpdateTarget, dated: str | None, *, as_json: bool) -> None:
    from privet.central.updates.update import refit_advice

    advice = refit_advice(model)
    if as_json:
        output.print_json(_summary(model, target, dated, advice))
        return
    output.print_text(model.guarantee_.sentence)
    output.print_text()
    _print_growth(advice)
    output.print_text()
    output.print_text(_advice_sentence(advice, output.amount(model.epsilon)))
    kept = "no ledger was kept: further releases of these rows add to what they cost"
    output.print_text(kept if model.ledger is None else ledger_sentence(model.ledger))
    output.print_text(f"model: {target.path}")


def _summary(model: Any, target: UpdateTarget, dated: str | None, advice: "RefitAdvice") -> dict[str, Any]:
    from privet.central.updates.update import LossAdvice

    ledger = {"ledger": ledger_summary(model.ledger)} if model.ledger is not None else {}
    losses = {}
    if isinstance(advice, LossAdvice):
        losses = {"expected_loss": advice.losses, "expected_loss_of_one_fit": advice.losses_of_one_fit}
    return {
        **ledger,
        "model": str(target.path),
        "updated_from": str(target.source),
        "dated": dated,
        "method": model.method,
        "batches": len(advice.growth),
        "noise_growth": advice.growth.tolist(),
        "noise_of_one_fit": advice.one_fit,
        **losses,
        "refit_advised": advice.advised,
        "guarantee": model.guarantee_.to_json(),
    }


def _print_growth(advice: "RefitAdvice") -> None:
    from privet.central.updates.update import LossAdvice

    headings = ["batch", "noise a count", "times that of one fit"]
    lines = [
        [f"{i:,}", f"{noise:,.1f}", f"{ratio:.2f}"]
        for i, (noise, ratio) in enumerate(zip(advice.growth, advice.ratios, strict=True), start=1)
    ]
    if isinstance(advice, LossAdvice):
        headings = ["batch", "noise at a leaf", "times that of one fit", "expected loss, points", "of one fit"]
        losses = zip(advice.losses, advice.losses_of_one_fit, strict=True)
        for line, both in zip(lines, losses, strict=True):
            line.extend(f"{100 * loss:.2g}" for loss in both)
    if len(lines) > _LAST_SHOWN + 2:
        lines = [lines[0], ["..."] * len(headings), *lines[-_LAST_SHOWN:]]
    output.print_table(headings, lines, right=list(range(len(headings))))


def _advice_sentence(advice: "RefitAdvice", epsilon: str) -> str:
    from privet.central.updates.update import LossAdvice

    if advice.now == 0:
        return "There is no noise to grow: the model is not private."
    cost = f"it costs its own epsilon={epsilon} on every row again, old and new"
    worth, figures = "halve the noise", f"has noise of about {advice.one_fit:,.1f} a count instead of {advice.now:,.1f}"
    if isinstance(advice, LossAdvice):
        worth, gain = "gain half a point of accuracy", f"{100 * advice.gain:.2g}"
        figures = f"is expected to gain {gain} points of accuracy"
    if advice.advised:
        return f"Think of a refit: one fit on all rows so far, at the same epsilon, {figures}; {cost}."
    if advice.batches_until is None:
        return f"No need to refit: one fit on all rows is not expected to {worth}, now or after more batches; {cost}."
    more = "one more batch" if advice.batches_until == 1 else f"{advice.batches_until} more batches"
    return f"No need to refit: after {more} one fit on all rows would {worth}; {cost}."

"""Where an update reads a model and where it puts the next one: a file, or a folder of dated states."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Self

from privet.cli.support.files import check_output, stamp
from privet.cli.support.output import printable
from privet.errors import ModelFileError, ParameterError
from privet.files.file_lock import file_lock

_STATE = re.compile(r"\d{4}-\d{2}-\d{2}\.privet(\.gz)?")


@dataclass(frozen=True)
class UpdateTarget:
    """The model that is read, the file that is written, which may be the same, and the folder if states are kept."""

    source: Path
    path: Path
    folder: Path | None
    stamp: tuple[int, int, int] | None

    @classmethod
    def of(cls, model: Path, destination: Path | None, dated: str | None) -> Self:
        """Return the place that the options name; a date that a folder cannot take is refused."""
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
        """Keep other updates of the same model out until this one has written: of two, one would be paid for and lost.

        Where the next model goes elsewhere, the one that is read stays, and anyone may branch off from it.
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

    def check_output(self, *, force: bool, inputs: tuple[Path, ...]) -> None:
        """Refuse a file that cannot be written; the model that is updated is there to be replaced."""
        # The states of a folder stay, whatever is forced.
        check_output(self.path, force=self.folder is None and (force or self.in_place), inputs=inputs)

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
            f"the folder {str(folder)!r} holds no model named by a date; begin with a fit of --method private-rdt or "
            "dp-rf and -o FOLDER/YYYY-MM-DD.privet"
        )
    return states[-1]


def checked_date(dated: str | None) -> str | None:
    """Return a date as it was given, or refuse what is none."""
    if dated is None:
        return None
    try:
        same = date.fromisoformat(dated).isoformat() == dated
    except ValueError:
        same = False
    if not same:
        raise ParameterError(f"--dated {printable(dated)!r} is no date; write it as YYYY-MM-DD")
    return dated


def _check_after(dated: str, newest: str, folder: Path) -> None:
    if dated <= newest:
        there = "is there already" if dated == newest else f"is before {newest}, the newest"
        raise ParameterError(
            f"--dated {dated}: that state {there} in {str(folder)!r}, and states stay as they are; give a later date"
        )

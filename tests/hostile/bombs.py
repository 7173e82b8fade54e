"""Opens all bombs, one by one, within limits.

``python -m tests.hostile.bombs`` prints a line of JSON on each: the name, what came of it, the memory that it took, and
what was run that should not have been.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from privet.errors import PrivetError
from tests.hostile import document_bombs, table_bombs
from tests.hostile.bomb import BOMBS, Bomb, Variants
from tests.hostile.case import Hang, hostile_room, limited_time
from tests.hostile.choices import Choices
from tests.hostile.seeds import files
from tests.hostile.targets import TARGETS

__all__ = ["BOMBS", "document_bombs", "table_bombs"]

# What a file must not bring about. Modules that privet imports when it first needs them are there by then.
_CODE = (
    "exec", "compile", "import", "pickle.find_class", "marshal.loads", "os.system", "os.exec", "os.posix_spawn",
    "os.fork",
    "subprocess.Popen", "socket.connect", "ctypes.dlopen", "sys.addaudithook",
)  # fmt: skip


def main() -> None:
    ran: list[str] = []
    watching = [False]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0] and event in _CODE:
            ran.append(f"{event} {arguments[:1]!r:.200}")

    sys.addaudithook(hook)
    with hostile_room() as room:
        _open_all_seeds(room)
        for name, drop in BOMBS.items():
            print(json.dumps({"begun": name}), flush=True)
            folder = room / "bomb"
            folder.mkdir()
            ran.clear()
            Path("/proc/self/clear_refs").write_text("5")
            before = _peak()
            outcome, told = _outcome(drop, folder, watching)
            line = {"name": name, "outcome": outcome, "told": told, "bytes": _peak() - before, "ran": ran}
            print(json.dumps(line), flush=True)
            shutil.rmtree(folder)


def _outcome(drop: Bomb, folder: Path, watching: list[bool]) -> tuple[str, Any]:
    """Return what came of a bomb, and what it told; of many variants, how many were read and how many refused."""
    try:
        with limited_time():
            watching[0] = True
            result = drop(folder)
    except PrivetError as error:
        return "refused", str(error)
    except (Exception, Hang) as error:
        return "violation", f"{type(error).__name__}: {error}"
    finally:
        watching[0] = False
    return ("variants", result._asdict()) if isinstance(result, Variants) else ("opened", "")


def _open_all_seeds(room: Path) -> None:
    """Use every seed once, so that whatever is imported on first use is there."""
    for kind, seeds in files().seeds.items():
        for seed in seeds:
            for tape in (b"", b"\1", b"\2"):
                folder = room / "seed"
                folder.mkdir()
                (folder / seed.name).write_bytes(seed.content)
                TARGETS[kind](folder / seed.name, Choices(tape))
                shutil.rmtree(folder)


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()

"""atheris chooses: bytes that reach new lines of privet are kept and changed further.

``python -m tests.hostile.guided seconds folder`` needs the environment that ``make fuzz-guided`` makes.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

_TAPES_A_KIND, _TAPE_BYTES = 8, 200
_COMPILED = re.compile(r"@compiled|numba\.njit")


def guided(seconds: int, folder: Path) -> None:
    """Run the same mutations and targets on tapes that atheris makes, for so many seconds."""
    import atheris

    with atheris.instrument_imports(include=["privet"], exclude=_compiled()):
        from tests.hostile import case
        from tests.hostile.campaign import SHARES
        from tests.hostile.choices import Choices

        case.files()  # what privet imports on first use is watched too
    kinds, corpus = list(SHARES), folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(kinds):
        for seed in range(_TAPES_A_KIND):
            tape = bytes([number]) + Choices.of_seed("guided", kind, seed).taken(_TAPE_BYTES)
            (corpus / f"{number}-{seed}").write_bytes(tape)

    with case.hostile_room() as room:

        def try_one(tape: bytes) -> None:
            kind = kinds[tape[0] % len(kinds)] if tape else kinds[0]
            outcome = case.Case(kind, Choices(tape[1:])).run(room, "guided")
            if outcome.what == case.VIOLATION:
                (folder / "guided.txt").write_text(f"{kind}\n{tape.hex()}\n\n{outcome.told}")
                raise AssertionError(outcome.culprit)

        # libFuzzer's own limits of memory and time are off: the room has both.
        options = [f"-max_total_time={seconds}", "-max_len=600", "-rss_limit_mb=0", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)], try_one)
        atheris.Fuzz()


def _compiled() -> list[str]:
    """Return the modules that Numba compiles, which it cannot once atheris has put its marks in."""
    found = find_spec("privet")
    if found is None or found.submodule_search_locations is None:
        return []
    root = Path(found.submodule_search_locations[0])
    paths = [path for path in root.rglob("*.py") if _COMPILED.search(path.read_text(encoding="utf-8"))]
    return [".".join(["privet", *path.relative_to(root).with_suffix("").parts]) for path in paths]


if __name__ == "__main__":
    guided(int(sys.argv[1]), Path(sys.argv[2]))

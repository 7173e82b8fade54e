"""Who may ask, for how much: names with budgets of their own, known by a token's digest or a provider's subject."""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from privet.checks import is_number, look_alike
from privet.entropy import secure_text
from privet.errors import DataError, ParameterError
from privet.files.documents import read_json
from privet.files.file_lock import file_lock
from privet.files.whole_file import write_private_json
from privet.privacy.accounting import check_delta
from privet.privacy.ledger.spending import Budget
from privet.service.gateway.jwt import Issuer

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_MOST_EPSILON = 1e6
_PATIENCE_SECONDS = 10.0


def new_token() -> str:
    """Return a token of 256 random bits."""
    return secure_text(32)


def digest(token: str) -> str:
    """Return what may be kept of a token; its 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass(frozen=True)
class Analyst:
    """An analyst and their own budget; without a digest and a subject nobody can ask in this name."""

    name: str
    epsilon: float
    delta: float = 0.0
    digest: str | None = None
    subject: str | None = None

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ParameterError(
                f"{self.name!r} is no name of an analyst; take up to 64 letters, digits and . _ @ -, a letter or a "
                "digit first"
            )
        if not is_number(self.epsilon) or not 0 < self.epsilon <= _MOST_EPSILON:
            raise ParameterError(f"epsilon={self.epsilon!r} is no budget; pass a number above 0, such as 1.0")
        check_delta(self.delta)

    def budget(self, unit: str) -> Budget:
        """Return the budget as the ledger counts."""
        return Budget(self.epsilon, self.delta, unit, strict=True)


class Analysts:
    """The file of the analysts. It is read for every request, so that a change holds at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[Analyst]:
        """Return all analysts, revoked ones too, in the order in which they came."""
        try:
            return [Analyst(**each) for each in read_json(self._path)]
        except (OSError, ValueError, TypeError):
            raise DataError(f"{str(self._path)!r} cannot be read; take it from a backup") from None

    def put(self, analyst: Analyst) -> None:
        """Add an analyst, or replace the one of this name: what the name has spent stays spent."""
        with self._changed() as known:
            others = [each for each in known.values() if each.name != analyst.name]
            alike = look_alike(analyst.name, [each.name for each in others])
            if alike is not None:
                raise ParameterError(f"there is an analyst {alike!r}, which looks like {analyst.name!r}; name another")
            if analyst.subject is not None and analyst.subject in {each.subject for each in others}:
                raise ParameterError(f"the subject {analyst.subject!r} is another analyst's; each is for one name")
            known[analyst.name] = analyst

    def revoke(self, name: str) -> None:
        """Let nobody ask in this name any more; what was paid for is still made."""
        with self._changed() as known:
            if name not in known:
                raise ParameterError(f"there is no analyst {name!r}; see all by `privet serve spending`")
            known[name] = replace(known[name], digest=None, subject=None)

    def of_token(self, token: str, issuer: Callable[[], Issuer | None]) -> Analyst | None:
        """Return whose token this is, of the gateway or of the trusted provider."""
        # A search by digest tells nothing of tokens by its time: a digest cannot be steered.
        own = next((each for each in self.all() if each.digest == digest(token)), None)
        if own is not None or "." not in token:
            return own
        trusted = issuer()
        subject = None if trusted is None else trusted.subject(token)
        return None if subject is None else next((each for each in self.all() if each.subject == subject), None)

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Analyst]]:
        with file_lock(self._path.parent, seconds=_PATIENCE_SECONDS):
            known = {each.name: each for each in self.all()}
            yield known
            write_private_json(self._path, [asdict(each) for each in known.values()])

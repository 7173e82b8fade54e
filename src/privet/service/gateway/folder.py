"""The folder of a gateway: what its owner has fixed, its analysts and their issuer, and the models that it released."""

import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from privet.counting.inputs import open_table
from privet.counting.sources import Files
from privet.entropy import secure_bytes
from privet.errors import DataError, LedgerError, ParameterError, SchemaError
from privet.files.documents import read_json
from privet.files.whole_file import whole_bytes, write_private_json
from privet.privacy.ledger import Ledger
from privet.privacy.ledger.heads import HeadFolder
from privet.privacy.unit import Unit
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.service.gateway.analysts import Analysts
from privet.service.gateway.jwt import Issuer

SETTINGS, SCHEMA, ANALYSTS, AUDIT = "settings.json", "schema.json", "analysts.json", "audit.jsonl"
ISSUER, KEYS, MODELS, BEGUN = "issuer.json", "jwks.json", "models", "begun"
# In bytes; below it nothing more is paid for, since a model that cannot be written is paid for and lost.
_LEAST_ROOM = 2**26
_NAME_BYTES = 16
_NO_FOLDER = "{!r} is no folder of a gateway; make one with `privet serve init`"
_NOT_STRICT = (
    "the account {!r} is not strict, so fits that fail would be free, although failing may tell what a row holds; open "
    "one with `privet ledger init --strict`"
)
_OTHER_ISSUER = (
    "the analyst {!r} is known by a subject of {}, which may be somebody else's at {}; revoke such analysts first, and "
    "add them with their new subjects"
)
_INFERRED = (
    "the schema is marked as inferred in places, and every analyst would see what was read from the rows; declare what "
    "is public and delete the marks"
)


@dataclass(frozen=True)
class Settings:
    """What the owner has fixed, and no analyst can change; ``password`` is a hash.

    ``gateway`` names this folder in the entries of what it was paid for: several gateways may spend from one account.
    """

    gateway: str
    rows: str
    ledger: str
    dataset: str
    unit: str
    max_rows: int
    password: str


class GatewayFolder:
    """A gateway on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.settings = Settings(**read_json(path / SETTINGS))
            self.schema = Schema.load(path / SCHEMA)
        except (OSError, ValueError, TypeError):
            raise DataError(_NO_FOLDER.format(str(path))) from None
        self.analysts = Analysts(path / ANALYSTS)
        self.rows = Path(self.settings.rows)

    @classmethod
    def make(
        cls, path: Path, *, rows: Path, schema: Path, ledger: Ledger, max_rows: int, password: str
    ) -> "GatewayFolder":
        """Make a new folder, which its owner alone can enter, once every row was read as a fit reads it.

        So no fit fails for what a row holds, as long as the rows stay as they are.
        """
        if path.exists():
            raise ParameterError(f"{str(path)!r} exists; choose another folder")
        budget = ledger.account().budget
        if not budget.strict:
            raise LedgerError(_NOT_STRICT.format(ledger.dataset))
        declared = Schema.load(schema)
        if declared.leaks:
            raise SchemaError(_INFERRED)
        unit = Unit(budget.unit, max_rows)
        check_rows(rows, declared, unit)
        settings = Settings(
            _new_name(), str(rows.resolve()), str(ledger.path), ledger.dataset, budget.unit, max_rows, password
        )
        try:
            for own in (path, path / MODELS, path / BEGUN):
                own.mkdir(mode=0o700)
        except OSError as error:
            raise ParameterError(f"cannot make {str(path)!r}: {error.strerror}; choose another folder") from error
        declared.save(path / SCHEMA)
        write_private_json(path / ANALYSTS, [])
        write_private_json(path / SETTINGS, asdict(settings))  # last: a folder without it is none
        return cls(path)

    @property
    def name(self) -> str:
        """What the ledger calls this gateway."""
        return self.settings.gateway

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return Unit(self.settings.unit, self.settings.max_rows)

    @property
    def audit_file(self) -> Path:
        """The audit log."""
        return self.path / AUDIT

    @property
    def lock_file(self) -> Path:
        """What the one server that runs keeps locked."""
        return self.path / SETTINGS

    def model_file(self, fit: str) -> Path:
        """Return the file of a released model."""
        return self.path / MODELS / f"{fit}.privet"

    def begun_file(self, fit: str) -> Path:
        """Return the file that is made when a fit begins, before it opens the rows."""
        return self.path / BEGUN / fit

    def has_room(self) -> bool:
        """Return whether the disk has room for further models."""
        return shutil.disk_usage(self.path).free >= _LEAST_ROOM

    def open_ledger(self, heads: HeadFolder | None = None) -> Ledger:
        """Open the ledger; an account that is not as it was at `make` is refused."""
        settings = self.settings
        return Ledger(settings.ledger, dataset=settings.dataset, unit=settings.unit, strict=True, heads=heads)

    def move_to(self, rows: Path, ledger: Path) -> None:
        """Take the table and the ledger from other paths from now on, as another gateway than before."""
        self.settings = replace(
            self.settings, gateway=_new_name(), rows=str(rows.resolve()), ledger=str(ledger.resolve())
        )
        self.rows = Path(self.settings.rows)
        write_private_json(self.path / SETTINGS, asdict(self.settings))

    def set_issuer(self, url: str, audience: str, keys: Path) -> None:
        """Trust a provider's tokens from now on; its public keys are copied.

        A subject names somebody at one provider only: at another, the same one may be somebody else.
        """
        Issuer.load(url, audience, keys)
        before = self.issuer()
        known = [each.name for each in self.analysts.all() if each.subject is not None]
        if before is not None and before.url != url and known:
            raise ParameterError(_OTHER_ISSUER.format(known[0], before.url, url))
        with whole_bytes(self.path / KEYS) as file:
            file.write(keys.read_bytes())
        write_private_json(self.path / ISSUER, {"url": url, "audience": audience})

    def issuer(self) -> Issuer | None:
        """Return the provider whose tokens are trusted, if there is one."""
        if not (self.path / ISSUER).exists():
            return None
        return Issuer.load(**read_json(self.path / ISSUER), jwks=self.path / KEYS)


def _new_name() -> str:
    return secure_bytes(_NAME_BYTES).hex()


def check_rows(rows: Path, schema: Schema, unit: Unit) -> None:
    """Read every row as a fit reads it, and refuse what does not fit."""
    for _ in open_table(Files(rows), Encoder(schema, unit.column), unit, None).blocks():
        pass

"""Ten parties of a secure sum of whom three may vanish."""

import json

import numpy as np

from privet.partitioned import SecureSumForest
from privet.partitioned.secure_sum.messages import KEY
from privet.partitioned.secure_sum.shares import AttemptSecrets, KeyedAttempt
from tests.partitioned.sums import TEN, keys_of, parties_of, prepare, terms_of

THREE = ("clinic", "mill", "yard")


def ten(folder, **changes):
    """Ten parties that have counted, of whom three may vanish."""
    parties = parties_of(terms_of(**({"names": TEN, "dropouts": 3} | changes)), folder)
    prepare(parties)
    return parties


def noised_of(folder, name):
    return np.frombuffer(next((folder / name).rglob("noised")).read_bytes(), dtype="<i8")


def sum_of(folder, names):
    return sum(noised_of(folder, name) for name in names)


def opened(parties, seen, attempt=1):
    return SecureSumForest.open(next(iter(parties.values())).terms, attempt, *seen.values())


def others(*names):
    return [name for name in TEN if name not in names]


def signed_by(name, message, **changes):
    """A message that is not as it should be, signed all the same by the party itself."""
    body = {key: value for key, value in (json.loads(message) | changes).items() if key != "signature"}
    return json.dumps({**body, "signature": keys_of(TEN)[name].sign(body)}).encode()


def revealed(folder):
    """Who has taken masks off."""
    return sorted(path.parent.parent.name for path in folder.rglob("unmasking"))


def keyed(seen, terms, attempt=1):
    return KeyedAttempt.of_messages(seen[KEY], terms, attempt)


def secrets_of(folder, name):
    return AttemptSecrets.from_bytes(next((folder / name).rglob("attempt-1.secret")).read_bytes())

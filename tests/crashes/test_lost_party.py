"""A party that disappears at any step of a secure sum: nothing is opened, and the next attempt costs nothing."""

import json
from contextlib import chdir
from pathlib import Path

import pytest

from privet.partitioned.secure_sum.messages import KEY, MASKED
from privet.partitioned.transports.directory import Directory
from tests.crashes.campaign import fresh_copies
from tests.crashes.commands import OTHERS, _others, named, others_take_part
from tests.crashes.forked import run


def lost_at(kind, how_many):
    """Let ``how_many`` of the others send no message of this kind, nor any after it."""

    def take_part(points):
        others_take_part(points)
        really = Directory.collect

        def collect(self, asked):
            if asked == KEY and kind == MASKED:
                return really(self, asked)
            with points.off():
                attempt = int(self.folder.name.removeprefix("attempt-"))
                present = _others()[how_many:]
                keys = self.present(KEY)
                for party in present:
                    made = party.key_message(attempt) if asked == KEY else party.masked_message(attempt, keys)
                    self.send(asked, party.name, made)
            self._timeout = 0.05
            return plain(self, asked)

        Directory.collect = collect

    plain = Directory.collect
    return take_part


@pytest.mark.parametrize("kind", [KEY, MASKED])
@pytest.mark.parametrize("how_many", [1, 2])
def test_without_all_parties_nothing_opens_and_the_next_attempt_is_free(kind, how_many):
    command = named("party sum")
    with fresh_copies(command) as fresh:
        folder = fresh()
        lost = run(folder, command.words, beforehand=lost_at(kind, how_many))
        names = ", ".join(map(repr, OTHERS[:how_many]))
        assert lost.code == 3, lost.stderr
        assert lost.sentence.startswith(f"no {kind} message came from {names} within")
        assert "nothing was opened; when all are ready, all parties run attempt 2 (--attempt 2)" in lost.sentence
        assert not Path(folder, "model.privet").exists()
        with chdir(folder):
            noised = [path.read_bytes() for path in sorted(Path().rglob("noised"))]
        again = run(folder, [*command.words, "--attempt", "2", "--json"], beforehand=others_take_part)
        assert again.code == 0, again.stderr
        assert json.loads(again.stdout)["ledger"]["spent"] == 1.0
        with chdir(folder):
            assert [path.read_bytes() for path in sorted(Path().rglob("noised"))] == noised

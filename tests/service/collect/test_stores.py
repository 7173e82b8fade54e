"""What keeps the answers: both stores take each report once, and say nothing of who sent which."""

import itertools
import json
import os
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing

import psycopg
import pytest

from privet.errors import DataError, ParameterError
from privet.service.collect import store as sqlite_store
from privet.service.collect.backup import back_up, restore
from privet.service.collect.folder import CollectFolder
from privet.service.collect.postgres_store import PostgresStore, check_store_url
from privet.service.collect.store import Stored, StoreUnavailable
from privet.service.collect.tokens import new_token, token_hash, use_mark
from tests.service.collect.conftest import BATCH
from tests.service.postgres import PostgresServer


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Let a store wait as long as others write: SQLite's waiting is not fair, and a disk may be slow."""
    monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 600.0)


def said(answer):
    return answer.status_code, answer.json().get("error")


def sorted_rows(texts):
    return sorted(map(str, texts))


def waiting(collection):
    with collection.store._transaction() as do:
        return [answer for (answer,) in do.rows("SELECT answer FROM waiting")]


def everything(collection):
    return sorted_rows([*collection.store.released(), *waiting(collection)])


def test_a_report_gets_a_receipt_and_the_same_one_when_it_is_repeated(either):
    token, answers = either.token(), either.reports[0]
    first, again = either.send(token, answers), either.send(token, answers)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert len(first.json()["receipt"]) == 64
    assert len(everything(either)) == 1


def test_a_used_link_takes_no_second_report(either):
    token = either.token()
    either.send(token, either.reports[0])
    assert said(either.send(token, either.reports[1], "1" * 32)) == (409, "token_used")
    assert len(everything(either)) == 1


def test_nobody_reads_an_answer_before_another_batch_waits_behind_it(either):
    either.send_many(2 * BATCH - 1)
    assert list(either.store.released()) == []
    either.send_many(1)
    assert len(list(either.store.released())) == BATCH


def test_the_last_answers_are_released_together_with_a_batch_and_never_by_themselves(either):
    either.send_many(3 * BATCH - 1)
    assert (either.store.n_released(), either.store.n_batches()) == (BATCH, 1)
    assert either.folder.close(either.store) == 2 * BATCH - 1
    assert (either.store.n_released(), either.store.n_batches()) == (3 * BATCH - 1, 2)
    assert either.store.release(BATCH, last=True) == 0


def test_fewer_answers_than_a_batch_are_never_released(either):
    either.send_many(BATCH - 1)
    assert either.folder.close(either.store) == 0
    assert list(either.store.released()) == []
    assert len(everything(either)) == BATCH - 1


def test_an_export_begins_with_all_of_an_earlier_one(either):
    either.send_many(3 * BATCH)
    before = list(either.store.released())
    either.send_many(BATCH)
    assert list(either.store.released())[: 2 * BATCH] == before


def test_answers_lie_in_another_order_than_they_came(either):
    either.send_many(60)
    either.folder.close(either.store)
    came = [json.dumps(list(report.values())) for report in either.reports]
    lie = list(either.store.released())
    assert sorted_rows(lie) == sorted_rows(came)
    assert lie != came  # equal by chance less than once in (5!)^12


def releases_in_order(collection, rounds=30):
    """Return how many of so many releases took just the answers that had come first, and just those that came last."""
    first, last, sent = 0, 0, 0
    for _ in range(rounds + 1):
        tokens = [token_hash(new_token()) for _ in range(BATCH)]
        collection.store.add_tokens(tokens)
        for hashed in tokens:
            collection.store.put(hashed, b"mark", str(sent))
            sent += 1
        before = sorted(map(int, waiting(collection)))
        if collection.store.release(BATCH):
            gone = sorted(set(before) - set(map(int, waiting(collection))))
            first += gone == before[:BATCH]
            last += gone == before[-BATCH:]
    return first, last


def test_which_of_the_waiting_answers_go_says_nothing_of_when_they_came(either):
    # By chance it is just the first, or the last, in one of 252 releases: in ten of 30 less than once in 10^16.
    assert max(releases_in_order(either)) < 10


def test_ids_that_count_are_caught(either, monkeypatch):
    numbers = itertools.count()
    monkeypatch.setattr("privet.service.collect.store._new_id", lambda: next(numbers).to_bytes(16))
    assert releases_in_order(either)[0] == 30


def test_the_tables_hold_no_token_no_number_of_a_report_and_no_column_more(either):
    token = either.token()
    either.send(token, either.reports[0], "ab" * 16)
    with either.store._transaction() as do:
        held = {(table, name): {row[i] for row in rows} for table in ("token", "waiting", "released")
                for rows in [do.rows(f"SELECT * FROM {table}")]  # noqa: S608
                for i, (name, *_) in enumerate(do._cursor.description)}  # fmt: skip
    assert set(held) == {("token", "hash"), ("token", "mark"), ("waiting", "id"), ("waiting", "answer"),
                         ("released", "batch"), ("released", "id"), ("released", "answer")}  # fmt: skip
    assert held["token", "hash"] == {token_hash(token)}
    assert held["token", "mark"] == {use_mark(token, "ab" * 16)}
    assert held["waiting", "answer"] == {json.dumps(list(either.reports[0].values()))}


def test_the_file_holds_no_token_no_number_of_a_report_and_no_address(collection):
    token = collection.token()
    collection.send(token, collection.reports[0], "ab" * 16)
    content = (collection.folder.path / "answers.db").read_bytes()
    for hidden in (token.encode(), b"ab" * 16, bytes.fromhex("ab" * 16), b"testclient"):
        assert hidden not in content
    assert token_hash(token) in content


def transactions(do, table):
    return {number for (number,) in do.rows(f"SELECT xmin::text FROM {table}")}  # noqa: S608


def file_of_waiting(do):
    return do.rows("SELECT pg_relation_filepath('waiting')")[0][0]


def test_no_row_of_an_answer_has_a_transaction_in_common_with_a_token_after_a_release(make_collection, postgres):
    collection = make_collection(store=postgres.answers)
    collection.send_many(BATCH)
    with collection.store._transaction() as do:
        # The link that collect.md says is there until a release.
        assert transactions(do, "waiting") <= transactions(do, "token")
        file = file_of_waiting(do)
    collection.send_many(BATCH)
    with collection.store._transaction() as do:
        assert not transactions(do, "token") & (transactions(do, "waiting") | transactions(do, "released"))
        assert file_of_waiting(do) != file  # so that no dead row has one either


def test_a_release_that_leaves_dead_rows_behind_is_caught(make_collection, postgres, monkeypatch):
    monkeypatch.setattr(PostgresStore, "_empty_waiting", "DELETE FROM waiting")
    collection = make_collection(store=postgres.answers)
    with collection.store._transaction() as do:
        file = file_of_waiting(do)
    collection.send_many(2 * BATCH)
    with collection.store._transaction() as do:
        assert file_of_waiting(do) == file


def test_a_database_that_loses_what_it_confirmed_or_keeps_times_is_refused(postgres):
    url = postgres.answers
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            with pytest.raises(DataError, match="may lose what it has confirmed; turn fsync on"):
                for _ in range(1000):  # the setting reaches new connections a moment later
                    PostgresStore(url, os.urandom(32), new=True).close()
        finally:
            connection.execute("ALTER SYSTEM RESET fsync")
            connection.execute("SELECT pg_reload_conf()")


def test_a_store_confirms_on_the_disk_whatever_the_database_says(postgres):
    url = postgres.new_database("hasty")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE hasty SET synchronous_commit = off")
    with closing(PostgresStore(url, b"k" * 32, new=True)) as store, store._transaction() as do:
        assert do.rows("SHOW synchronous_commit") == [("on",)]


def test_two_collections_share_a_database_and_see_nothing_of_each_other(postgres):
    url, keys, hashed = postgres.answers, [os.urandom(32) for _ in range(3)], token_hash(new_token())
    one, other = (PostgresStore(url, key, new=True) for key in keys[:2])
    with closing(one), closing(other):
        one.add_tokens([hashed])
        assert (one.knows(hashed), other.knows(hashed)) == (True, False)
    with pytest.raises(ParameterError, match="in the database already"):
        PostgresStore(url, keys[0], new=True)
    with pytest.raises(DataError, match="no answers of this collection"):
        PostgresStore(url, keys[2])


@pytest.mark.parametrize(
    ("url", "says"),
    [("mysql://x", "URL of a PostgreSQL database"), ("postgresql://u:sesame@h/d", "others on this machine could see"),
     ("postgresql://u@h/d?password=sesame", "others on this machine could see"),
     ("postgresql://u@h:no port/sesame", "no URL that PostgreSQL can read")],
)  # fmt: skip
def test_an_address_that_is_none_or_has_a_password_is_refused_without_showing_it(url, says):
    with pytest.raises(ParameterError, match=says) as error:
        check_store_url(url)
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize("file", [False, True])
def test_a_url_with_a_password_comes_from_the_environment_and_is_kept_and_shown_nowhere(
    make_collection, postgres, monkeypatch, tmp_path, file
):
    urls = (postgres.answers, postgres.url("nowhere"))
    right, wrong = (own.replace("privet@", "privet:sesame@") for own in urls)
    kept = tmp_path / "url"
    monkeypatch.setenv("PRIVET_STORE_URL_FILE" if file else "PRIVET_STORE_URL", str(kept) if file else right)
    kept.write_text(right + "\n")
    collection = make_collection(store="postgresql://somewhere.else/")
    collection.send_many(1)
    assert "sesame" not in (collection.folder.path / "settings.json").read_text()
    monkeypatch.setenv("PRIVET_STORE_URL", wrong)
    kept.write_text(wrong)
    with pytest.raises(DataError, match="cannot be opened") as error:
        collection.folder.open_store()
    shown = "".join(map(str, (error.value, error.value.__cause__)))
    assert "sesame" not in shown
    assert error.value.__suppress_context__


def test_two_servers_share_a_store_and_take_each_report_once(either):
    tokens = [either.token() for _ in range(60)]
    other = either.folder.open_store()
    stores, found = (either.store, other), {}

    def respond(own):
        for i, token in enumerate(tokens):
            found[own, i] = stores[own % 2].put(token_hash(token), use_mark(token, str(own // 2)), f"[{i}]")
            stores[own % 2].release(BATCH)

    threads = [threading.Thread(target=respond, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    for i in range(len(tokens)):
        assert Counter(found[own, i] for own in range(4))[Stored.NEW] == 1
    assert everything(either) == sorted_rows(f"[{i}]" for i in range(60))


def test_a_collection_that_is_closed_at_one_server_is_closed_at_the_other(either):
    either.send_many(1)
    CollectFolder(either.folder.path).change(open=False)
    assert said(either.send(either.token(), either.reports[0])) == (410, "closed")


def test_a_backup_while_reports_come_has_each_report_with_its_token_or_neither(either, tmp_path):
    ends = threading.Event()
    numbers = iter(range(10**6))

    def respond():
        with closing(either.folder.open_store()) as store:
            while not ends.is_set():
                hashed = token_hash(new_token())
                store.add_tokens([hashed])
                store.put(hashed, b"mark", f"[{next(numbers)}]")
                store.release(BATCH)
                time.sleep(0.001)  # SQLite's waiting is not fair to those who wait

    thread = threading.Thread(target=respond)
    thread.start()
    try:
        for i in range(4):
            while either.store.n_released() < 10 * (i + 1):
                time.sleep(0.01)
            back_up(either.folder, tmp_path / f"{i}.tar")
    finally:
        ends.set()
        thread.join()
    for i in range(4):
        restored = restore(tmp_path / f"{i}.tar", tmp_path / f"restored-{i}")
        assert restored.settings.store == ""
        with closing(sqlite3.connect(restored.path / "answers.db")) as database:
            (used,) = database.execute("SELECT count(mark) FROM token").fetchone()
            kept = database.execute("SELECT answer FROM waiting UNION ALL SELECT answer FROM released").fetchall()
        assert len(set(kept)) == len(kept) == used >= 10 * (i + 1)


def test_a_backup_is_restored_into_either_store(either, postgres, tmp_path):
    either.send_many(3 * BATCH)
    token = either.token()
    back_up(either.folder, tmp_path / "backup.tar")
    for name, url in (("file", ""), ("database", postgres.new_database(f"restored_{os.urandom(4).hex()}"))):
        restored = restore(tmp_path / "backup.tar", tmp_path / name, url)
        assert (restored.path / "answers.db").exists() == (url == "")
        with closing(restored.open_store()) as store:
            assert list(store.released()) == list(either.store.released())
            assert store.knows(token_hash(token))
            assert store.put(token_hash(token), b"mark", "[1]") is Stored.NEW
        assert restored.key == either.folder.key


def test_a_damaged_backup_leaves_nothing_behind(either, tmp_path):
    back_up(either.folder, tmp_path / "backup.tar")
    content = bytearray((tmp_path / "backup.tar").read_bytes())
    at = content.index(b"SQLite format 3")
    content[at : at + 16] = b"x" * 16
    (tmp_path / "backup.tar").write_bytes(content)
    with pytest.raises(DataError, match="cannot be opened"):
        restore(tmp_path / "backup.tar", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_store_that_was_moved_away_confirms_nothing(collection, tmp_path):
    token = collection.token()
    (collection.folder.path / "answers.db").rename(tmp_path / "elsewhere.db")
    assert said(collection.send(token, collection.reports[0])) == (503, "unavailable")
    with pytest.raises(DataError, match="cannot be opened"):
        collection.folder.open_store()


def test_a_folder_that_was_moved_away_confirms_nothing(collection, tmp_path):
    token = collection.token()
    collection.folder.path.rename(tmp_path / "elsewhere")
    assert said(collection.send(token, collection.reports[0])) == (503, "unavailable")


def test_a_file_on_a_full_disk_stores_nothing_and_the_server_goes_on_when_there_is_room(collection):
    tokens = [collection.token() for _ in range(300)]
    database = collection.store._database
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    answers, taken, refused = collection.reports[0], [], []
    for token in tokens:
        (taken if (answer := collection.send(token, answers)).status_code == 201 else refused).append(token)
        if answer.status_code != 201:
            assert said(answer) == (503, "unavailable")
            break
    assert refused, "the disk never was full"
    database.execute("PRAGMA max_page_count = 100000")
    assert collection.send(refused[0], answers).status_code == 201  # the link is good still
    for token in taken:
        assert collection.send(token, answers).status_code in (200, 429)
    (waiting,) = database.execute("SELECT count(*) FROM waiting").fetchone()
    assert waiting + collection.store.n_released() == len(taken) + 1


def test_a_database_that_crashes_keeps_what_it_confirmed_and_is_found_again(make_collection):
    server = PostgresServer()
    try:
        collection = make_collection(store=server.answers)
        tokens = [collection.token() for _ in range(40)]
        taken = []
        for i, token in enumerate(tokens):
            if i in (10, 25):
                server.crash()
                assert said(collection.send(token, collection.reports[i])) == (503, "unavailable")
                server.start()
            taken.append(collection.send(token, collection.reports[i]).status_code)
        assert Counter(taken) == {201: 40}
        sent = [json.dumps(list(own.values())) for own in collection.reports[:40]]
        assert everything(collection) == sorted_rows(sent)
        collection.store.close()
    finally:
        server.remove()


def test_a_database_on_a_full_disk_stores_nothing_and_goes_on_when_there_is_room():
    server = PostgresServer()
    try:
        server.crash()
        server.start(largest_file=2 * 2**20)
        with closing(PostgresStore(server.answers, b"k" * 32, new=True)) as store:
            hashes = [token_hash(new_token()) for _ in range(1000)]
            store.add_tokens(hashes)
            sent, stopped = {}, None
            for hashed in hashes:
                answer = os.urandom(5_000).hex()  # nothing that a database could make smaller
                try:
                    store.put(hashed, b"mark", answer)
                except StoreUnavailable:
                    stopped = hashed, answer
                    break
                sent[hashed] = answer
            assert stopped, "the disk never was full"
            server.crash()
            server.start()
            with pytest.raises(StoreUnavailable):
                store.n_released()  # over the connection that is gone
            assert store.put(stopped[0], b"mark", stopped[1]) is Stored.NEW
            assert store.put(next(iter(sent)), b"mark", "again") is Stored.AGAIN
            with store._transaction() as do:
                kept = do.rows("SELECT answer FROM waiting")
            assert sorted_rows(answer for (answer,) in kept) == sorted_rows([*sent.values(), stopped[1]])
    finally:
        server.remove()

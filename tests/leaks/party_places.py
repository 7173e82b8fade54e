"""Places of those who trust no curator: answers and channels, releases, secure sums, and the models made of them."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from privet import (
    FieldSampling,
    HorizontalForest,
    LaplaceNoise,
    Ledger,
    Party,
    RandomizedResponse,
    RecordComplement,
    Secret,
    VerticalForest,
    perturb,
)
from privet.partitioned import PrivateKey, Roster, SplitStructure, Structure, SumParty, Terms
from privet.partitioned.transports.directory import Directory
from privet.registry import LOCAL_METHODS
from privet.report import write_report
from tests.leaks.command_places import done, laid_out, left_behind, said
from tests.leaks.hearing import heard
from tests.leaks.marks import KEY, LABEL, PERSON
from tests.leaks.model_places import model_things, public_things
from tests.leaks.models import fault
from tests.leaks.place import Register
from tests.leaks.tables import FAULTS, SCHEMA, frame, in_order, labels, parts

place = Register("Parties and respondents")
NAMES = ("bank", "clinic")
_EPSILON = 0.001
_SECRET = KEY.encode().ljust(32, b".")


def parties(folder: Path, **options: Any) -> dict[str, Party]:
    """Return parties whose keys are marked."""
    keys = {name: PrivateKey(name, KEY.encode().ljust(32, name[:1].encode())) for name in NAMES}
    return {name: Party(key, store=folder / name, n_jobs=1, **options) for name, key in keys.items()}


def roster(holders: dict[str, Party]) -> Roster:
    """Return everybody's public key."""
    return Roster(holder.public for holder in holders.values())


def halves() -> list[tuple[pd.DataFrame, np.ndarray]]:
    """Return the rows of each party."""
    return [(frame()[part], labels()[part]) for part in parts()]


def _structure(**options: Any) -> Structure:
    return Structure.draw(SCHEMA, **{"epsilon": _EPSILON, "n_trees": 3, "height": 2, **options})


@place("release files, stores, ledgers and the combined model of parties with rows of their own")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    holders, agreed = parties(folder / "stores"), _structure()
    for holder in holders.values():
        holder.ledger = Ledger(folder / f"{holder.key.name}.db", dataset="rows", epsilon=1.0)
    releases = [holder.release(agreed, *own) for holder, own in zip(holders.values(), halves(), strict=True)]
    for release in releases:
        release.save(folder / f"{release.party}.json")
        yield "a release", [repr(release), str(release), vars(release)]
    agreed.save(folder / "structure.json")
    roster(holders).save(folder / "roster.json")
    model = HorizontalForest.combine(agreed, roster(holders), releases)
    yield from model_things(model, "combined", folder)
    yield from public_things(model, "combined")
    write_report(model, folder / "report.html")
    yield "all files", folder
    yield "shown", [repr(thing) for thing in (*holders.values(), *(h.key for h in holders.values()), agreed)]


@place("release files and the model of parties with columns of their own")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    holders = parties(folder / "stores")
    split = {"bank": ["age", "pay"], "clinic": ["sex"]}
    agreed = SplitStructure.draw(SCHEMA, split, epsilon=_EPSILON, n_trees=4)
    columns = {part.party: frame()[list(part.schema.names)] for part in agreed.parts}
    releases = [holders[part.party].release(part, columns[part.party], labels()) for part in agreed.parts]
    model = VerticalForest.combine(agreed, roster(holders), releases)
    yield from model_things(model, "combined", folder)
    yield "all files", folder


@place("a secure sum: messages, the shared folder, the stores, the opened model")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    shared, holders = folder / "shared", parties(folder / "stores")
    shared.mkdir()
    terms = Terms(_structure(), roster(holders))
    sums = {name: SumParty(holder, terms) for name, holder in holders.items()}
    for own, rows in zip(sums.values(), halves(), strict=True):
        own.prepare(*rows)
    exchanges = {name: Directory(shared, terms, 1, timeout=900) for name in sums}
    others = [threading.Thread(target=sums["clinic"].run, args=(1, exchanges["clinic"]))]
    for other in others:
        other.start()
    of_bank = heard(lambda: sums["bank"].run(1, exchanges["bank"]))
    for other in others:
        other.join()
    assert of_bank.error is None, of_bank.error
    yield from of_bank.things("the round")
    yield "the shared folder", shared
    yield "the stores", folder / "stores"
    yield "shown", [repr(own) for own in (*sums.values(), terms, *exchanges.values())]
    yield from model_things(of_bank.result, "the sum", folder)


@place("errors of parties: rows, keys and messages that are refused")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    agreed = _structure()
    for number, name in enumerate(FAULTS):
        table = FAULTS[name]()
        holder = parties(folder / f"{number}")["bank"]
        if isinstance(table, pd.DataFrame):
            X = table[[own for own in table if own in {*SCHEMA.names, "gender"}]]
            yield from heard(lambda X=X, y=table["class"], h=holder: h.release(agreed, X, y)).things(name)
    holders = parties(folder / "stores")
    release = holders["bank"].release(agreed, *halves()[0])
    other = _structure(round_="another")
    yield from heard(lambda: HorizontalForest.combine(other, roster(holders), [release])).things("another round")
    yield from heard(lambda: holders["clinic"].check_structure(_structure(epsilon=5.0))).things("too dear")
    holders["bank"].key.save(folder / "bank.key")
    damaged = (folder / "bank.key").read_text()[:-5]
    (folder / "damaged.key").write_text(damaged)
    (folder / "damaged.key").chmod(0o600)
    yield from heard(lambda: PrivateKey.load(folder / "damaged.key")).things("a damaged key")
    (folder / "secret.json").write_text(damaged)
    (folder / "secret.json").chmod(0o600)
    yield from heard(lambda: Secret(folder / "secret.json")).things("a damaged secret")


def _channels() -> dict[str, Any]:
    noise = LaplaceNoise(SCHEMA, epsilon=2.0).channel
    answers = {"epsilon": 1.0, "columns": ["sex"], "covers_missing": True}
    return {
        "reconstruction-tree": noise | RandomizedResponse(SCHEMA, **answers).channel,
        "random-response-forest": RecordComplement(SCHEMA, theta=0.9).channel,
        "sampled-forest": FieldSampling(SCHEMA, epsilon=1.0, pairs=[SCHEMA.names[:2]]).channel,
        "labels too": noise | RandomizedResponse(SCHEMA, **answers, label=True).channel,
    }


def _people() -> pd.DataFrame:
    """Return clear rows, one a person."""
    return in_order(2_000).drop(columns="note").assign(person=[f"{PERSON} {i}" for i in range(2_000)])


@place("respondents' answers, channels and secrets' repr", counts=False)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    people = _people().set_index(frame().index[:2_000])
    for name, channel in _channels().items():
        secret = Secret.of_key(_SECRET)
        all_said = heard(lambda channel=channel, secret=secret: perturb(people, channel, secret, person="person"))
        assert all_said.error is None, all_said.error
        yield from all_said.things(name)
        yield f"{name}: answers", all_said.result
        for convert in (pl.from_pandas, pa.Table.from_pandas):
            plain = convert(_people())
            answers = perturb(plain, channel, Secret.of_key(_SECRET), person="person")
            yield f"{name}: answers", answers.to_arrow() if hasattr(answers, "to_arrow") else answers
        channel.save(folder / f"{name}.channel.json")
        yield f"{name}: shown", [repr(channel), repr(secret), str(secret), f"{secret}", repr([secret])]
        for wrong in FAULTS:
            table = fault(wrong)
            if isinstance(table, pd.DataFrame):
                bad = heard(lambda t=table, c=channel: perturb(t, c, Secret.of_key(_SECRET), person="person"))
                if bad.error is not None:
                    yield from bad.things(f"{name}, {wrong}")
    yield "channel files", folder


@place("perturb and reconstruct on the command line: output, answers, channel", counts=False)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder, n_rows=500)
    # Columns that a channel leaves clear are answers, so here no clear one is marked.
    clear = _people()[:500].assign(sex="female")
    clear.to_parquet(folder / "clear.parquet")
    for noise, name in (("laplace --epsilon 4", "answers.parquet"), ("gaussian --privacy 50", "answers.csv")):
        line = f"perturb clear.parquet --schema schema.json --noise {noise} --id person --secret {name}.key -o {name}"
        yield from done(f"{line} --progress")
        yield from said(f"reconstruct {name} --channel answers.channel.json --column age")
        (folder / "answers.channel.json").rename(folder / f"{name}.channel.json")
    yield from left_behind(folder, "clear.parquet")


@place("models of disturbed answers and their errors, every local method", slow=True, counts=False)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    people = _people()
    for method, channel in ((method, _channels()[method]) for method in LOCAL_METHODS):
        answers = perturb(people, channel, Secret.of_key(_SECRET), person="person")
        # The label of a sampled question is within its answer.
        y = answers.pop("class") if "class" in answers else None
        X = answers
        model = LOCAL_METHODS[method](channel=channel, random_state=1).fit(X, y)
        yield from model_things(model, method, folder)
        yield from public_things(model, method)
        write_report(model, folder / "report.html")
        yield f"{method}: report", folder / "report.html"
        wrong = {f"text in {name}": (X.assign(**{name: LABEL}), y) for name in X.columns[:2]}
        if y is not None:
            wrong |= {"labels": (X, y.where(y.index != 5, LABEL)), "length": (X[:-1], y)}
        for name, (bad, own) in wrong.items():
            unfit = LOCAL_METHODS[method](channel=channel, verbose=1)
            refused = heard(lambda bad=bad, own=own, unfit=unfit: unfit.fit(bad, own))
            yield from refused.things(f"{method}, {name}")

"""Places in Python where a model is: all that it can be turned into, its reports, exports and ledgers."""

import copy
import io
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import clone

from privet import Ledger, load
from privet.errors import ParameterError, PrivetError
from tests.contracts.tasks import OF_CLASSES
from tests.leaks.hearing import heard
from tests.leaks.models import apart, fault, unfitted
from tests.leaks.place import Register
from tests.leaks.tables import FILE_FAULTS, ROUTES, SCHEMA, batches, frame, in_order, labels, parts

place = Register("Python")


def model_things(model: Any, what: str, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield all that a fitted model can be turned into by Python's and scikit-learn's own means."""
    yield f"{what}: attributes", vars(model)
    yield f"{what}: document", model.to_document()
    yield f"{what}: pickle", pickle.dumps(model)
    stored = io.BytesIO()
    joblib.dump(model, stored, compress=3)
    yield f"{what}: joblib", stored.getvalue()
    yield f"{what}: copies", [vars(copy.copy(model)), vars(copy.deepcopy(model)), vars(clone(model))]
    yield f"{what}: shown", [repr(model), str(model), model._repr_html_(), repr(vars(model))]
    yield f"{what}: guarantee", [str(model.guarantee_), repr(model.guarantee_), model.guarantee_.to_json()]
    for name in ("model.privet", "model.privet.gz"):
        model.save(folder / name)
        yield f"{what}: {name}", folder / name
    yield f"{what}: loaded again", vars(load(folder / "model.privet"))


def public_things(model: Any, what: str) -> Iterator[tuple[str, Any]]:
    """Yield what the public names of a fitted model return."""
    for name in sorted(set(dir(type(model))) - {"schema_"}):
        if name.endswith("_") and not name.startswith("_"):
            with suppress(AttributeError, PrivetError):
                yield f"{what}: {name}", [getattr(model, name), repr(getattr(model, name))]
    for name in ("rules", "shapes"):
        if hasattr(model, name):
            yield f"{what}: {name}()", getattr(model, name)()


@place("a fitted model: attributes, document, file, pickle, joblib, copies, clone, repr, HTML; every method")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for method in OF_CLASSES:
        model = unfitted(method).fit(frame(), labels())
        # What was computed on the way to a prediction may have stayed.
        model.predict(frame())
        model.score(frame(), labels())
        yield from model_things(model, method, folder)
        yield from public_things(model, method)


@place("a fitted model by every road into a fit", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for name, given in ROUTES.items():
        model = unfitted("private-rdt").fit(*given(folder))
        yield f"{name}: attributes", vars(model)
        yield f"{name}: document", model.to_document()
        yield f"{name}: pickle", pickle.dumps(model)


@place("models fitted by person, with delta, in batches, and after a failed refit")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    by_person = unfitted("private-rdt", unit="person", max_rows=2).fit(
        in_order().drop(columns=["class", "note"]), labels()
    )
    yield from model_things(by_person, "by person", folder)
    yield from model_things(unfitted("private-forest", delta=1e-6).fit(frame(), labels()), "with delta", folder)
    grown = unfitted("private-rdt")
    for part in parts():
        grown.partial_fit(frame()[part], labels()[part])
    yield from model_things(grown, "in batches", folder)
    refused = heard(lambda: grown.fit(*apart(fault("a label that is not known"))))
    yield from refused.things("refit")
    yield from model_things(grown, "after a failed refit", folder)
    unfit = unfitted("private-forest")
    yield from heard(lambda: unfit.fit(*apart(fault("a label that is not known")))).things("a first fit")
    yield "after a failed first fit", [vars(unfit), repr(unfit), pickle.dumps(unfit)]


@place("reports, texts, pictures and exports of a model, every method", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    from matplotlib import pyplot as plt

    from privet.export import export_model
    from privet.report import export_text, plot_importances, plot_shapes, plot_tree, write_report

    for method in OF_CLASSES:
        model = unfitted(method).fit(frame(), labels())
        # Letters as text: as outlines they are made of numbers of all sizes.
        with warnings.catch_warnings(), plt.rc_context({"svg.fonttype": "none"}):
            warnings.simplefilter("ignore")
            write_report(model, folder / f"{method}.html")
            for form in ("json", "js", "python", "onnx"):
                with suppress(ParameterError):  # the votes of some are no sums
                    export_model(model, folder / f"{method}.{form}", format=form)
            plot_importances(model)
            plt.savefig(folder / f"{method}.svg")
            (plot_shapes if hasattr(model, "shapes") else plot_tree)(model)
            plt.savefig(folder / f"{method}-shape.svg")
            plt.close("all")
        (folder / f"{method}.txt").write_text(export_text(model))
    for path in sorted(folder.iterdir()):
        yield path.name, path


@place("an exported predictor that refuses a file")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    from privet.export import export_model

    export_model(unfitted("private-rdt").fit(frame(), labels()), folder / "predictor.py", format="python")
    for name, (file, content) in FILE_FAULTS.items():
        if ".csv" in file:
            (folder / file).write_bytes(content())
            line = [sys.executable, "-I", "predictor.py", file, "--proba"]
            done = subprocess.run(line, capture_output=True)
            assert done.returncode in {0, 3}, done.stderr
            yield name, [done.stdout, done.stderr]


@place("a ledger's file, account and repr; after fits, refusals and failures")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    ledger = Ledger(folder / "ledger.db", dataset="survey", epsilon=3.0)
    for method in OF_CLASSES:
        unfitted(method, ledger=ledger).fit(frame(), labels())
    yield from heard(lambda: unfitted("dpdf", ledger=ledger).fit(*apart(fault("a label that is not known")))).things(
        "a failing fit"
    )
    yield from heard(lambda: unfitted("dpdf", ledger=ledger, epsilon=5.0).fit(frame(), labels())).things("too dear")
    yield "file", folder
    yield "account", [ledger.account(), repr(ledger), str(ledger), pickle.dumps(ledger), vars(ledger)]


@place("what privet passes to an executor, as its logs would show it")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    from privet.counting.engines.parts import TablePartition, Work
    from privet.counting.rows import MemoryRows
    from privet.schema.encoding import Encoder

    encoder = Encoder(SCHEMA)
    rows = MemoryRows(encoder.encode(frame()), encoder.encode_labels(labels()))
    given = [*rows.partitions(), *(TablePartition(f"{i}", table) for i, table in enumerate(batches()))]
    for thing in (rows, *given, *(Work(None, encoder)(part) for part in given)):
        yield type(thing).__name__, [repr(thing), str(thing)]

"""What every estimator shares as scikit-learn sees it: it resolves the schema, encodes, predicts, saves.

Subclasses write ``fit``. It changes nothing of the model before the release has succeeded, and then all at once: a fit
that fails leaves the model as it was.
"""

import os
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from privet.checks import Constraint, check_constraints, check_whole, n_threads
from privet.counting.engines.predicting import Predicting
from privet.counting.sources import engine_of
from privet.errors import DataError, ParameterError, PrivacyLeakWarning, SchemaError
from privet.model_file import write_document
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.rational import check_epsilon
from privet.privacy.unit import Unit
from privet.schema import Schema, infer_schema
from privet.schema.encoding import Encoder
from privet.schema.table import as_arrow, as_numpy

_HOW_TO_WRITE_A_SCHEMA = """a schema is needed: it says what is public about the table. Write one, for example

    from privet import Categorical, Numeric, Schema
    schema = Schema([Numeric("age", 16, 100), Categorical("sex", ["female", "male"])], classes=["no", "yes"])

or draft one with `privet schema init rows.csv --target COLUMN`, or pass schema="infer" to read it from the rows, a leak
that the model's guarantee then records"""


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """What all of privet's estimators share."""

    schema: Schema | str | Path | None
    epsilon: float
    n_jobs: int | None
    verbose: int
    unsafe_seeded_noise: bool
    unit: str
    max_rows: int
    ledger: Ledger | None
    method: ClassVar[str]
    # What the parameters of the constructor may be, apart from those that all estimators have.
    constraints: ClassVar[Mapping[str, Constraint]] = {}
    # What a schema that is inferred has of the target.
    _read_of_target: ClassVar[str] = "classes"
    schema_: Schema
    n_features_in_: int
    guarantee_: Guarantee
    _encoder: Encoder

    def save(self, path: str | Path) -> None:
        """Write the released model to ``path``: one JSON document, gzipped where the name ends in ``.gz``.

        The file holds the schema, the structure, the released numbers and the guarantee: no seed, no exact count.
        """
        check_is_fitted(self)
        write_document(path, self.to_document())

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""
        check_constraints(self, self.constraints)
        n_threads(self.n_jobs)
        self._unit()
        if isinstance(self.schema, Schema):
            self._check_target(self.schema)
        return check_epsilon(self.epsilon)

    def _unit(self) -> Unit:
        return Unit(self.unit, self.max_rows)

    def _snapshot(self) -> Self:
        """Return a copy to fit: the parameters of this moment, whatever another thread or the table sets meanwhile."""
        return copy(self)

    def _take_over(self, fitted: Self) -> Self:
        """Take what was fitted from a snapshot, in one step that no interrupt can split; parameters stay."""
        parameters = self.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(fitted).items() if name not in parameters})
        return self

    def _is_sound(self) -> bool:
        """Return whether the method is used in a form that its argument covers."""
        return True

    def _adapted(self, schema: Schema) -> Schema:
        """Return the schema as the method needs it; only public facts enter."""
        return schema

    def _check_target(self, schema: Schema) -> None:
        """Refuse a schema whose target is not of the kind that is learnt."""
        schema.require_classes()

    def _labels(self, y: Any) -> Any:
        check_labels_given(y, type(self).__name__)
        # Arrow reads these tables' columns; all else that scikit-learn takes for labels becomes a NumPy array.
        if type(y).__module__.partition(".")[0] in {"pandas", "polars", "pyarrow"}:
            return as_arrow(_only_column(y), "y")
        labels = as_numpy(y)
        if labels.dtype.kind == "c":
            raise DataError("Complex data not supported; pass labels that are text, numbers or bools")
        try:
            return column_or_1d(labels, warn=True)
        except ValueError:  # scikit-learn's sentence quotes the number of rows
            raise DataError("y must be one column of labels; pass one label per row") from None

    def _resolve_schema(self, X: Any, labels: Any) -> Schema:
        schema = self._given_schema(X, labels)
        self._check_target(schema)
        return schema

    def _given_schema(self, X: Any, labels: Any) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if self.schema == "infer":
            warnings.warn(
                f'schema="infer" reads domains and {self._read_of_target} from the rows without noise; the guarantee '
                "records the leak",
                PrivacyLeakWarning, stacklevel=7,  # the caller of fit
            )  # fmt: skip
            return self._inferred_schema(X, labels)
        if isinstance(self.schema, (str, os.PathLike)):
            return Schema.load(self.schema)
        raise SchemaError(_HOW_TO_WRITE_A_SCHEMA)

    def _inferred_schema(self, X: Any, labels: Any) -> Schema:
        check_classification_targets(np.array(np.asarray(labels).tolist()))
        return infer_schema(X, labels, unit=self._unit().column)

    def _declared_schema(self) -> Schema:
        if self.schema == "infer":
            raise ParameterError('a plan reads no row, so schema="infer" gives it nothing to go by; declare a schema')
        return self._adapted(self._resolve_schema(None, None))

    @staticmethod
    def _checked_rows(n_rows: int | None, schema: Schema) -> int:
        """Return the number of rows to plan for."""
        if n_rows is None and schema.rows is None:
            raise ParameterError(
                "a plan needs to know roughly how many rows there are; pass n_rows (--rows), or declare rows"
            )
        return check_whole("n_rows", schema.rows if n_rows is None else n_rows, least=1, most=2**53)

    def _set_all(self, encoder: Encoder, **fitted: Any) -> None:
        """Set what the schema says and what was ``fitted``."""
        schema = encoder.schema
        self.__dict__.update(
            fitted,
            schema_=schema,
            n_features_in_=len(schema.attributes),
            feature_names_in_=np.array(schema.names, dtype=object),
            _encoder=encoder,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        # Noise cannot be seeded, and on tables of a few hundred rows it may outweigh the signal.
        tags.non_deterministic = not self.unsafe_seeded_noise
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """What all of privet's classifiers share."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row of ``X``; of equally probable ones the first.

        Of a dask DataFrame it is a dask Series, and of a Spark DataFrame the frame with a column ``prediction``: both
        compute nothing until they are asked to. Other columns than the schema's may be there.
        """
        if (engine := engine_of(X)) is not None:
            of_frame: NDArray[Any] = self._predicting(of_classes=True).of_frame(X, engine)
            return of_frame
        probabilities = self.predict_proba(X)
        most_probable: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return most_probable

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return every row's class probabilities, in the order of `classes_`.

        Of a dask DataFrame they are one with a column for each class, and of a Spark DataFrame its column
        ``probability``.
        """
        if (engine := engine_of(X)) is not None:
            probabilities: NDArray[np.float64] = self._predicting(of_classes=False).of_frame(X, engine)
            return probabilities
        if not hasattr(self, "guarantee_"):  # check_is_fitted alone takes as long as one row's whole prediction
            check_is_fitted(self)
        return self._weighted(self._probabilities(self._encoder.encode_new(X)))

    def predict_proba_frame(self, X: Any, library: str = "pandas") -> Any:
        """Return every row's class probabilities as a frame with a column for each class, called as it is.

        `predict_proba` itself is always an array, which scorers and wrappers take columns of by number.

        Parameters
        ----------
        X : table
            As in `predict`; the index of a pandas table is kept.
        library : {"pandas", "polars", "pyarrow"}
            Of the frame. The last two call their columns by text.
        """
        if library not in ("pandas", "polars", "pyarrow"):
            raise ParameterError(f"library={library!r} is not known; choose from pandas, polars, pyarrow")
        if (engine := engine_of(X)) is not None:
            raise ParameterError(f"probabilities of a {engine} frame are one already; use predict_proba")
        chances = self.predict_proba(X)
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(chances, columns=self.classes_, index=getattr(X, "index", None))
        make: Any = import_module(library)
        columns = {str(label): of_class for label, of_class in zip(self.classes_, chances.T, strict=True)}
        return make.table(columns) if library == "pyarrow" else make.DataFrame(columns)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of every row's class probabilities."""
        if (engine := engine_of(X)) is not None:
            raise ParameterError(f"logarithms of a {engine} frame are {engine}'s to take; use predict_proba")
        with np.errstate(divide="ignore"):  # the logarithm of a probability of 0 is -inf
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of classes: of two, how much likelier the second is; of more, each against all others.

        The most probable class has the largest, of two the second where its log-odds are above 0. They are the odds of
        `predict_proba`, and finite: a chance of 0 counts as 1e-308.
        """
        if (engine := engine_of(X)) is not None:
            raise ParameterError(f"log-odds of a {engine} frame are {engine}'s to take; use predict_proba")
        chances = np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny)
        if chances.shape[1] == 2:
            others, chances = chances[:, 0], chances[:, 1]
        else:
            others = np.maximum(chances.sum(axis=1, keepdims=True) - chances, np.finfo(np.float64).tiny)
        log_odds: NDArray[np.float64] = np.log(chances / others)
        return log_odds

    def _weighted(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chances as the model's class weights have them, if it has any."""
        return chances

    def _predicting(self, *, of_classes: bool) -> Predicting:
        """Return what predicts a cluster's frame: this model without its ledger, which workers have no use for."""
        check_is_fitted(self)
        model = self._snapshot()
        model.ledger = None
        answer = model.predict if of_classes else model.predict_proba
        return Predicting(answer, self.schema_.names, self.classes_, of_classes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on rows of one's own: an exact number about them, which nothing protects."""
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        try:
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        except (ValueError, TypeError):  # scikit-learn's sentences quote labels and the number of rows
            raise DataError(
                "y and sample_weight do not fit the rows to score; pass one label of the classes' type, and one weight "
                "if any, per row"
            ) from None

    @abstractmethod
    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return the class probabilities of encoded rows."""

    def _set_all(self, encoder: Encoder, **fitted: Any) -> None:
        super()._set_all(encoder, classes_=np.array(encoder.schema.classes), **fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def check_labels_given(y: Any, estimator: str) -> None:
    """Refuse a table in memory without labels."""
    if y is None:
        raise DataError(
            f"{estimator} requires y to be passed, but the target y is None; pass one label per row, or a table with "
            "named columns and the target that the schema names among them"
        )


def _only_column(y: Any) -> Any:
    """Return the column of a table that has one, and a column as it is."""
    if len(getattr(y, "shape", ())) < 2:
        return y
    if y.shape[1] != 1:
        raise DataError("y must be one column of labels; pass one label per row")
    if hasattr(y, "iloc"):
        return y.iloc[:, 0]
    return y.column(0) if hasattr(y, "column") else y.to_series()


def public_facts(schema: Schema) -> list[str]:
    """Return in words what ``schema`` declares public."""
    declared = sum(not attribute.inferred for attribute in schema.attributes)
    facts = [f"the names of {len(schema.attributes)} attributes and the domains of {declared} of them"]
    if declared == len(schema.attributes):
        facts = [f"the names and domains of {declared} attributes"]
    if schema.number is not None:
        facts += [] if schema.number.inferred else ["the bounds of the target"]
    elif not schema.classes_inferred:
        facts.append(f"the {len(schema.classes)} classes")
    if schema.never_missing:
        facts.append(f"that {len(schema.never_missing)} of {len(schema.attributes)} attributes are never missing")
    return [*facts, f"that there are about {schema.rows:,} rows"] if schema.rows is not None else facts

"""What every model of disturbed records shares: its channel, and how its rows are read."""

import math
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.checks import plain
from privet.counting.files import read_batches, table_of
from privet.errors import DataError, ModelFileError, NoGuaranteeWarning, ParameterError, PrivetError
from privet.estimator import PrivateClassifier
from privet.local.channels.answer_checks import doubts_about, refuse_impossible
from privet.local.channels.channel import Channel
from privet.local.guarantee import LocalGuarantee
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.persons import distinct_names
from privet.schema.table import column_of, without_column
from privet.tree.forest import Forest


class LocalClassifier(PrivateClassifier):
    """A model that was grown from records which were disturbed before anyone saw them.

    Nobody's budget pays for it: what it may cost was settled when people answered. ``channel=None`` says that the rows
    are clear, and the model then says that it is not private.
    """

    channel: Channel | str | Path | None
    person: str | None
    random_state: Any
    guarantee_: LocalGuarantee  # type: ignore[assignment]
    # Constructor parameters that decide how the model reads, and so belong in the file.
    file_parameters: ClassVar[tuple[str, ...]] = ()
    epsilon = math.inf
    unit = "row"
    max_rows = 1
    ledger = None
    unsafe_seeded_noise = False
    forest_: Forest
    _fitted_with: dict[str, Any]

    @property
    def height_(self) -> int:
        """The number of tests on the longest path."""
        check_is_fitted(self)
        return self.forest_.depth

    def _channel(self, X: Any, labels: Any) -> Channel:
        """Return the channel through which the rows came."""
        channel = Channel.load(self.channel) if isinstance(self.channel, (str, os.PathLike)) else self.channel
        if channel is None:
            return Channel.clear(self._resolve_schema(X, labels))
        if not isinstance(channel, Channel):
            raise ParameterError("channel must be a Channel, the path of one, or None where the rows are clear")
        if not (isinstance(self.schema, str) and self.schema == "infer") and self.schema is not None:
            declared = self._resolve_schema(X, labels)
            if (declared.names, declared.classes, declared.target, declared.never_missing) != (
                channel.schema.names, channel.schema.classes, channel.schema.target, channel.schema.never_missing,
            ):  # fmt: skip
                raise ParameterError(
                    "the schema is not that of the channel; leave it out, since the channel has its own"
                )
        return channel

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the table of answers, and the labels as they were given, None where they are in a file."""
        if isinstance(X, (str, os.PathLike)):
            if y is not None:
                raise ParameterError(
                    "leave y out when fitting from a file: the label is the schema's target column there"
                )
            if self.channel is None and self.schema == "infer":
                raise ParameterError('schema="infer" needs a table in memory; draft a schema with `privet schema init`')
            return X, None
        return X, self._labels(y)

    def _table(self, X: Any, labels: Any, seen: Schema) -> tuple[Any, NDArray[np.int64]]:
        """Return the answers as a table of the fields of ``seen``, and the labels' codes; files are read whole."""
        encoder, person = Encoder(seen), [] if self.person is None else [self.person]
        if labels is None:
            names = [*seen.names, seen.target]
            batches = list(read_batches(X, seen, [*names, *person]))
            if not batches:
                raise DataError(f"{str(X)!r} has no rows; nothing can be learnt from it")
            X = table_of(batches)
            labels = X.column(seen.target)
        for name in person:
            distinct_names(column_of(X, name), name)
            X = without_column(X, name)
        if hasattr(X, "column_names"):
            X = without_column(X, seen.target)
        return X, encoder.encode_labels(labels).astype(np.int64)

    def _guarantee_of(self, channel: Channel, table: Any, labels: NDArray[np.int64]) -> LocalGuarantee:
        """Return what the answers promise; refuse those that cannot have come through the channel."""
        refuse_impossible(channel, table)
        guarantee = LocalGuarantee(channel, doubts=doubts_about(channel, table, labels))
        if guarantee.doubts:
            warnings.warn(guarantee.reason, NoGuaranteeWarning, stacklevel=4)  # the caller of fit
        return guarantee

    def _plain_parameters(self) -> dict[str, Any]:
        return {name: plain(getattr(self, name)) for name in self.file_parameters}

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)

    def _set_local(self, guarantee: LocalGuarantee, **fitted: Any) -> Self:
        """Set what was fitted, and what the channel promises."""
        encoder = Encoder(guarantee.channel.schema)
        self._set_all(encoder, guarantee_=guarantee, _fitted_with=self._plain_parameters(), **fitted)
        return self

    @classmethod
    def _unfitted(cls, parameters: object, channel: Channel, **if_absent: Any) -> Self:
        """Return an unfitted model of a file's ``parameters``; earlier versions wrote none of ``if_absent``."""
        if not isinstance(parameters, Mapping) or {*parameters, *if_absent} != set(cls.file_parameters):
            raise ModelFileError("the model's parameters are not those of its method; the file is damaged")
        try:
            known = {**if_absent, **parameters}
            model = cls(channel=None if channel.is_clear else channel, schema=channel.schema, **known)
            model.check_parameters()
        except (PrivetError, TypeError) as error:
            raise ModelFileError("a parameter of the model is out of its range; the file was changed") from error
        return model

    @staticmethod
    def _guarantee_from(document: Mapping[str, Any], schema: Schema) -> LocalGuarantee:
        """Return the guarantee of a file, which must be about its schema."""
        guarantee = LocalGuarantee.from_json(document["guarantee"])
        if guarantee.channel.schema != schema:
            raise ModelFileError("the guarantee's channel is not of this schema; the file was changed")
        return guarantee

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags

"""What every released model shares: the parameters that its file keeps, its promise, and how both are checked."""

import sys
from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

from privet.checks import is_whole
from privet.errors import ModelFileError, SchemaError
from privet.estimator import PrivateClassifier, public_facts
from privet.privacy.events import Event
from privet.privacy.guarantee import Guarantee
from privet.schema import Schema
from privet.schema.encoding import Encoder


class ReleasedClassifier(PrivateClassifier):
    """A model of released numbers."""

    # Constructor parameters that decide how released numbers are read, and so belong in the file.
    file_parameters: ClassVar[tuple[str, ...]] = ()
    _fitted_with: dict[str, Any]

    @abstractmethod
    def _is_receipt(self, event: Event, forest: Any, schema: Schema) -> bool:
        """Return whether a fit of this model would have written ``event``."""

    def _assumptions(self, event: Event) -> list[str]:  # noqa: ARG002 - batches have one
        """Return what the caller promised."""
        return []

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters that belong in the file, as they are at the fit; any kind of number as a plain one."""
        return {name: _plain(getattr(self, name)) for name in self.file_parameters}

    def _guarantee(self, schema: Schema, event: Event) -> Guarantee:
        return Guarantee.from_event(
            event,
            public=[*public_facts(schema), "the method and its parameters"],
            leaks=schema.leaks,
            assumptions=self._assumptions(event),
            unit=self._unit(),
        )

    def _check_guarantee(self, guarantee: Guarantee, schema: Schema, forest: Any) -> None:
        """Refuse a guarantee that a fit of this model over this schema and forest would not have written."""
        expected = replace(self._guarantee(schema, guarantee.event), versions=guarantee.versions)
        if guarantee != expected or not self._is_receipt(guarantee.event, forest, schema):
            raise ModelFileError("the guarantee is not that of this schema and these trees; the file was changed")

    def _encoder_of(self, schema: Schema) -> Encoder:
        try:
            return Encoder(schema, self._unit().column)
        except SchemaError as error:
            raise ModelFileError("the unit's column is one of the schema's; the file was changed") from error

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


def _plain(value: Any) -> Any:
    if value is True or value is False or not isinstance(value, Real):
        return value
    return int(value) if is_whole(value) else float(value)

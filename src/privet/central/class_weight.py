"""Class weights: classes that matter more than they are frequent. The argument is in class_weight.md.

They are applied to what a model has released: the chances of a row are multiplied by the weights of their classes and
made to add up to 1 again. The fit does not know them.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.checks import is_number, plain
from privet.errors import ModelFileError, ParameterError
from privet.estimator import PrivateClassifier
from privet.schema import Label, Schema

# What a model file calls them, among the parameters of the fit; it is left out where there are none.
CLASS_WEIGHT, BALANCED = "class_weight", "balanced"
ClassWeight: TypeAlias = Mapping[Any, float] | str | None
# Products with chances stay far from where a double ends.
_LEAST, _MOST = 1e-9, 1e9


class ClassWeightedClassifier(PrivateClassifier):
    """A model that knows the released balance of its classes, and may weigh them."""

    class_weight: ClassWeight = None
    _fitted_with: dict[str, Any]

    @abstractmethod
    def _class_balance(self) -> NDArray[np.float64]:
        """Return each class's share of the rows, from released counts; none of them is 0."""

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""
        check_class_weight(self.class_weight)
        return super().check_parameters()

    @property
    def class_weight_(self) -> dict[Label, float] | None:
        """How much each class counts in predictions; None without ``class_weight``."""
        check_is_fitted(self)
        weights, classes = self._class_weights, self.schema_.classes
        return None if weights is None else dict(zip(classes, weights.tolist(), strict=True))

    def with_class_weight(self, class_weight: ClassWeight) -> Self:
        """Return the fitted model with other class weights, or with None, by which its chances are calibrated.

        A ledger names the model as it was fitted, by the checksum of its file.

        Parameters
        ----------
        class_weight : "balanced", dict or None
            As in the constructor.

        Privacy
        -------
        Only released numbers enter: post-processing, which costs nothing. Do not pass weights that were computed from
        exact labels. Argument: class_weight.md.
        """
        check_is_fitted(self)
        return self._snapshot()._reweigh(class_weight)  # noqa: SLF001 - of its own class

    def _reweigh(self, class_weight: ClassWeight) -> Self:
        self.class_weight = class_weight
        self.check_parameters()
        self._check_class_weight(self.schema_)
        others = {name: value for name, value in self._fitted_with.items() if name != CLASS_WEIGHT}
        self._fitted_with = others | self._class_weight_in_file()
        return self

    @property
    def _class_weights(self) -> NDArray[np.float64] | None:
        """The weight of each class as the model was fitted, or None."""
        in_file = self._fitted_with.get(CLASS_WEIGHT)
        if in_file is None:
            return None
        return weights_of(class_weight_from_json(in_file), self.schema_.classes, self._class_balance())

    def _weighted(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = self._class_weights
        return chances if weights is None else weighted(chances, weights)

    def _class_weight_in_file(self) -> dict[str, Any]:
        return {} if self.class_weight is None else {CLASS_WEIGHT: class_weight_to_json(self.class_weight)}

    def _check_class_weight(self, schema: Schema) -> None:
        """Refuse a weight for a class that the schema lacks."""
        if isinstance(self.class_weight, Mapping):
            unknown = [label for label in self.class_weight if label not in schema.classes]
            if unknown:
                raise ParameterError(
                    f"class_weight names {unknown[0]!r}, which is none of the schema's classes; choose from "
                    f"{list(schema.classes)}"
                )


def check_class_weight(class_weight: Any) -> None:
    """Refuse what is neither None, "balanced" nor a weight for each of some classes."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == BALANCED):
        return
    if not isinstance(class_weight, Mapping) or not all(map(_is_weight, class_weight.values())):
        raise ParameterError(
            f"class_weight={class_weight!r} must be 'balanced', None, or a dict of classes with numbers from "
            f"{_LEAST:g} to {_MOST:g}, such as {{'yes': 5}}"
        )


def weights_of(
    class_weight: Mapping[Any, float] | str, classes: Sequence[Label], noisy_shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weight of each class: "balanced" ones by released shares; a class that a dict leaves out weighs 1."""
    if isinstance(class_weight, str):
        balanced: NDArray[np.float64] = 1 / (len(classes) * noisy_shares)
        return balanced
    return np.array([float(class_weight.get(label, 1.0)) for label in classes])


def weighted(chances: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chances of rows in a population where classes are as much more frequent as they weigh."""
    parts = chances * weights
    total = np.zeros(len(parts))
    for of_class in parts.T:  # in order, as exported predictors add up
        total += of_class
    return parts / total[:, None]


def class_weight_to_json(class_weight: Mapping[Any, float] | str) -> Any:
    """Return class weights as plain JSON values: pairs, since labels need not be text."""
    if isinstance(class_weight, str):
        return str(class_weight)
    return [[plain(label), float(weight)] for label, weight in class_weight.items()]


def class_weight_from_json(data: object) -> Mapping[Any, float] | str:
    """Read class weights back."""
    if data == BALANCED:
        return BALANCED
    if not isinstance(data, list) or not all(map(_is_pair, data)) or len({pair[0] for pair in data}) < len(data):
        raise ModelFileError("the model's class weights are not classes with a number each; the file is damaged")
    return dict(data)


def _is_pair(data: object) -> bool:
    return isinstance(data, list) and len(data) == 2 and isinstance(data[0], (str, int, float))


def _is_weight(value: object) -> bool:
    return is_number(value) and bool(_LEAST <= value <= _MOST)

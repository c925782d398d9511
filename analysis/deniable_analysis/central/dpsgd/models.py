"""Logistic and softmax regression with one gradient per record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from deniable_analysis.central.profiles import Floats

Labels: TypeAlias = NDArray[np.int64]


class Model(Protocol):
    """A linear model: what training needs to know of it."""

    @property
    def classes(self) -> int:
        """How many labels there are; labels are 0, 1, …"""

    def size(self, features: int) -> int:
        """How many weights there are for so many features."""

    def gradients(self, weights: Floats, features: Floats, labels: Labels) -> Floats:
        """Compute the gradient of each record's loss; shape (records, weights)."""

    def predict(self, weights: Floats, features: Floats) -> Labels:
        """Choose the likeliest label of each record."""


@dataclass(frozen=True)
class Logistic:
    """Two labels, one weight per feature.

    >>> gradient = Logistic().gradients(np.zeros(2), np.array([[1.0, 3.0]]), np.array([1]))
    >>> gradient.tolist()
    [[-0.5, -1.5]]
    """

    @property
    def classes(self) -> int:
        """Two."""
        return 2

    def size(self, features: int) -> int:
        """One weight per feature."""
        return features

    def gradients(self, weights: Floats, features: Floats, labels: Labels) -> Floats:
        """Compute (P(label 1) − label) x."""
        return np.asarray((expit(features @ weights) - labels)[:, None] * features)

    def predict(self, weights: Floats, features: Floats) -> Labels:
        """Choose label 1 where its chance is above one half."""
        return np.asarray(features @ weights > 0, dtype=np.int64)


@dataclass(frozen=True)
class Softmax:
    """Any number of labels, one weight per label and feature.

    Args:
        classes: How many labels; at least 2.
    """

    classes: int

    def size(self, features: int) -> int:
        """One weight per label and feature."""
        return features * self.classes

    def gradients(self, weights: Floats, features: Floats, labels: Labels) -> Floats:
        """Compute (P(label) − 1[label]) ⊗ x."""
        off = softmax(self._scores(weights, features), axis=1)
        off[np.arange(len(labels)), labels] -= 1
        return np.asarray((off[:, :, None] * features[:, None, :]).reshape(len(labels), -1))

    def predict(self, weights: Floats, features: Floats) -> Labels:
        """Choose the label of the largest score."""
        return np.asarray(np.argmax(self._scores(weights, features), axis=1), dtype=np.int64)

    def _scores(self, weights: Floats, features: Floats) -> Floats:
        return np.asarray(features @ weights.reshape(self.classes, -1).T)

"""KOS: messages between annotators and examples, for two labels."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import InputError
from plausibly_builtins.crowd_kit._estimated import CrowdKit, Estimated, estimated
from plausibly_builtins.crowd_kit._running import Column, Estimator, Given


@attrs.frozen(kw_only=True)
class Kos(CrowdKit):
    """All plausibility on the label that crowd-kit's KOS infers: of two, the one that weighs more.

    Examples tell annotators which label the others favour, annotators tell examples how far they
    agree, in turn, from random weights. It gives labels alone, so a row is one 1 and zeros. Where
    both labels weigh the same, which they do where nobody who answered has answered anything else,
    it gives none, and the table is refused.

    It does not say what an annotator is worth. An example's plausibilities depend on all other
    examples of the table (`joint`).

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    random_state : int
        Of the random weights at the start; `seed` has no part in it.

    References
    ----------
    Karger, Oh & Shah, Budget-optimal task allocation for reliable crowdsourcing systems, Operations
    Research 62 (2014), 1-24.
    """

    called: ClassVar[str] = "kos"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        try:
            return estimated(
                annotations,
                self.called,
                "KOS",
                {"n_iter": self.iterations, "random_state": self.random_state},
                read=_inferred,
                repeats=False,
                most=2,
            )
        except InputError as error:
            if isinstance(error.__cause__, KeyError):  # the sign 0, which is neither label's
                raise _tied() from error
            raise


def _tied() -> InputError:
    return InputError(
        "kos-tied",
        "crowd-kit:kos finds two labels of an example of the same weight, and infers neither",
        expected="annotators who answered several examples, for each example",
        got="an example of which nothing speaks for one label",
        do="aggregator worker-agreement or dawid-skene, which keep the tie",
        whose="aggregator crowd-kit:kos",
    )


def _inferred(given: Given, estimator: Estimator) -> Column:
    """Return 1 for the label that was inferred: (example, label that somebody says)."""
    labels = estimator.labels_.reindex(np.arange(given.rows.n)).to_numpy()
    found: Column = (labels[:, None] == np.array(given.texts, dtype=object)).astype(np.float64)
    return found

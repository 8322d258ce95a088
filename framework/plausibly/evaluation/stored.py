"""The outcome of a split as plain data, from which exactly the same outcome is made."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from plausibly.evaluation.design import Outcome, Stated
from plausibly.evaluation.heard import Said


def to_json(outcome: Outcome) -> dict[str, object]:
    """Return plain data; Python writes floats so that they are read as they were."""
    alike = list(dict.fromkeys(outcome.stated))
    return {
        "number": outcome.number,
        "n_test": outcome.n_test,
        "n_calibration": outcome.n_calibration.tolist(),
        "measures": {name: values.tolist() for name, values in outcome.measures.items()},
        "vacuous": outcome.vacuous.tolist(),
        "statements": [[_text(one.level), one.aggregated, one.short] for one in alike],
        "stated": [alike.index(one) for one in outcome.stated],
        "guarantees": dict(outcome.guarantees),
        "said": [one.to_json() for one in outcome.said],
    }


def from_json(plain: Mapping[str, Any]) -> Outcome:  # Any: what JSON holds
    """Return the outcome that `to_json` described.

    Raises
    ------
    ValueError, KeyError, TypeError
        Where it described none.
    """
    alike = [
        Stated(None if level is None else Fraction(level), bool(aggregated), str(short))
        for level, aggregated, short in plain["statements"]
    ]
    measures = {name: np.array(values, np.float64) for name, values in plain["measures"].items()}
    vacuous = np.array(plain["vacuous"], dtype=np.bool_)
    stated = tuple(alike[place] for place in plain["stated"])
    if len(stated) != vacuous.size or any(one.shape != vacuous.shape for one in measures.values()):
        raise ValueError("cells are missing")
    return Outcome(
        number=int(plain["number"]),
        n_test=int(plain["n_test"]),
        n_calibration=np.array(plain["n_calibration"], dtype=np.int64),
        measures=measures,
        vacuous=vacuous,
        stated=stated,
        guarantees=dict(plain["guarantees"]),
        said=tuple(Said.from_json(one) for one in plain["said"]),
    )


def _text(level: Fraction | None) -> str | None:
    return None if level is None else str(level)

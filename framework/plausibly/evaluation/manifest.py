"""Of which study finished splits are: what must be the same for their results to be the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly import registry
from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.errors import ComponentError, InputError
from plausibly.evaluation.design import Design
from plausibly.evaluation.methods import Method
from plausibly.protocols import CALIBRATOR, COMBINER, SCORE, Kind

FORMAT = 1

_DATA = {
    "predictions": "predictions",
    "plausibilities": "plausibilities",
    "true": "known labels",
    "strata": "strata",
}


def manifest(design: Design) -> dict[str, Any]:  # Any: what JSON holds
    """Return what makes a study what it is, but for the number of its splits.

    Parameters
    ----------
    design : Design

    Returns
    -------
    dict
        Plain data: settings, methods, and digests of all data by the names of the examples, so that
        the order of rows has no part in it.

    Raises
    ------
    InputError
        ``checkpoint-component`` for a component that has no name here.
    """
    order = np.argsort(design.predictions[names.EXAMPLE].values.astype(np.str_), kind="stable")
    predictions = design.predictions.isel({names.EXAMPLE: order})
    plausibilities = design.plausibilities.isel({names.EXAMPLE: order})
    coordinates = {
        str(name): _digest(values.values)
        for array in (plausibilities, predictions)
        for name, values in array.coords.items()
        if values.ndim
    }
    return {
        "format": FORMAT,
        "plausibly": version("plausibly"),
        "seed": design.seed,
        "alphas": [str(alpha) for alpha in design.alphas],
        "test": str(design.test),
        "group": design.group,
        "ties": design.ties,
        "draws": _listed(design.draws),
        "sizes": _listed(design.sizes),
        "methods": {name: _described(name, method) for name, method in design.methods.items()},
        "coordinates": coordinates,
        "predictions": _digest(predictions.values, str(predictions.attrs.get(names.SCALE))),
        "plausibilities": _digest(plausibilities.values),
        "true": None if design.true is None else _digest(design.true[order]),
        "strata": None if design.strata is None else _digest(design.strata[order]),
    }


def _listed(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _digest(values: NDArray[np.generic], *more: str) -> str:
    """Return 128 bits of what an array holds."""
    digest = blake2b("\0".join([str(values.shape), *more]).encode(), digest_size=16)
    if values.dtype.kind in "biuf":
        plain = np.ascontiguousarray(values)
        digest.update(plain.astype(plain.dtype.newbyteorder("<")).dtype.str.encode())
        digest.update(plain.astype(plain.dtype.newbyteorder("<")).tobytes())
    else:
        texts = name_texts(values.ravel().tolist())
        digest.update(json.dumps(texts).encode())
    return digest.hexdigest()


def _described(name: str, method: Method) -> dict[str, Any]:  # Any: as above
    """Return the components of a method as tables, with the plugins that they come from."""
    kinds: tuple[tuple[Kind[Any], object], ...] = (  # Any: each kind has its own Protocol
        (CALIBRATOR, method.calibrator),
        (SCORE, method.score),
        (COMBINER, method.combiner),
    )
    tables: dict[str, Any] = {}
    for kind, component in kinds:
        try:
            table = registry.describe(kind, component)
        except ComponentError as error:
            raise InputError(
                "checkpoint-component",
                f'{kind.name} of method "{name}" cannot be told from others: {error.what}',
                expected="components with a name and plain parameters, to know them again",
                got=f"an object of the class {type(component).__name__}",
                do="register its class (plausibly.register), or compare without a checkpoint",
                whose=name,
            ) from error
        source = registry.default().find(kind, str(table["name"])).source
        tables[kind.name] = {**table, "from": str(source)}
    tables["allow_no_guarantee"] = method.allow_no_guarantee
    return tables


def differences(written: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:  # Any: as above
    """Return in words what two studies do not have in common.

    Parameters
    ----------
    written : mapping
        Of the study that was kept.
    asked : mapping
        Of the one that is asked for.
    """
    found: list[str] = []
    for key, value in asked.items():
        old = written.get(key)
        # As they look in a file; methods also in their order, which is that of the results.
        if _written(value, sort=key != "methods") == _written(old, sort=key != "methods"):
            continue
        if key in _DATA:
            found.append(f"other {_DATA[key]}")
        elif key in ("methods", "coordinates") and isinstance(old, dict):
            noun = "method" if key == "methods" else "coordinate"
            those = [f'{noun} "{n}"' for n in {**old, **value} if old.get(n) != value.get(n)]
            found += those or ["methods in another order"]
        else:
            found.append(f"{key} {_said(value)}, was {_said(old)}")
    return found


def _written(value: object, *, sort: bool) -> str:
    return json.dumps(value, sort_keys=sort)


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)

"""Finished splits of a study in a folder, from which a stopped study goes on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from hashlib import blake2b
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly import registry
from plausibly.atomic import unwritable
from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.errors import ComponentError, InputError, listed
from plausibly.evaluation.design import Design, Outcome, Recorded, Stated
from plausibly.protocols import CALIBRATOR, COMBINER, SCORE, Kind


def read_outcome(plain: Mapping[str, Any]) -> Outcome:  # Any: what JSON holds
    """Return the outcome of a file, with the floats that were written."""
    read = {
        "n_calibration": np.array(plain["n_calibration"], dtype=np.int64),
        "measures": {name: np.array(v, np.float64) for name, v in plain["measures"].items()},
        "vacuous": np.array(plain["vacuous"], dtype=np.bool_),
        "stated": tuple(Stated(**fields) for fields in plain["stated"]),
        "warnings": tuple(Recorded(**fields) for fields in plain["warnings"]),
    }
    return Outcome(**{**plain, **read})


FORMAT = 1
_DIGEST = "blake2b:"


def manifest(design: Design) -> dict[str, Any]:  # Any: what JSON holds
    """Return what makes a study what it is, but for the number of its splits."""
    # By name: results do not depend on the order of the rows.
    order = np.argsort(design.predictions[names.EXAMPLE].values.astype(np.str_))
    predictions, plausibilities = (
        array.isel({names.EXAMPLE: order}) for array in (design.predictions, design.plausibilities)
    )
    of_examples = {"known labels": design.true_label, "strata": design.strata}
    methods: dict[str, dict[str, object]] = {
        f'method "{name}"': {"allow_no_guarantee": method.allow_no_guarantee}
        for name, method in design.methods.items()
    }
    kinds: tuple[Kind[Any], ...] = (CALIBRATOR, SCORE, COMBINER)  # Any: each has its own Protocol
    for (name, method), kind in product(design.methods.items(), kinds):
        component: object = getattr(method, kind.name)
        try:
            table = registry.default().describe(kind, component)
        except ComponentError as error:
            raise InputError(
                "checkpoint-component",
                f'{kind.name} of method "{name}" cannot be told from others: {error.what}',
                expected="components with a name and plain parameters, to know them again",
                found=f"an object of the class {type(component).__name__}",
                hint="register its class (plausibly.register), or compare without a checkpoint",
            ) from error
        source = registry.default().find(kind, str(table["name"])).source
        methods[f'method "{name}"'][kind.name] = {**table, "from": str(source)}
    return {
        "format": FORMAT,
        "plausibly": version("plausibly"),
        "seed": design.seed,
        "alphas": [str(alpha) for alpha in design.alphas],
        "test": str(design.test),
        "cluster": design.cluster,
        "ties": design.ties,
        "draws": design.draws,
        "sizes": design.sizes,
        "methods": list(design.methods),
        **methods,
        **{
            f'coordinate "{name}"': _digest(values.values)
            for array in (plausibilities, predictions)
            for name, values in array.coords.items()
            if values.ndim
        },
        "predictions": _digest(predictions.values, str(predictions.attrs.get(names.SCALE))),
        "plausibilities": _digest(plausibilities.values),
        **{
            name: None if values is None else _digest(values[order])
            for name, values in of_examples.items()
        },
    }


def _digest(values: NDArray[np.generic], *more: str) -> str:
    """Return 128 bits of the values of an array."""
    digest = blake2b("\0".join([str(values.shape), *more]).encode(), digest_size=16)
    if values.dtype.kind in "biuf":
        digest.update(values.dtype.str.encode() + values.tobytes())
    else:
        digest.update(json.dumps(name_texts(values.ravel().tolist())).encode())
    return f"{_DIGEST}{digest.hexdigest()}"


MANIFEST = "study.json"


@attrs.define(kw_only=True, eq=False)
class Checkpoint:
    """A folder for the finished splits of one study."""

    folder: Path = attrs.field(converter=Path)
    _about: dict[str, Any] = attrs.field(factory=dict, init=False)  # Any: what JSON holds

    def finished(self, splits: int) -> int:
        """Return how many of the first `splits` splits there are, of any study."""
        return sum(self._file(number).is_file() for number in range(splits))

    def open(self, design: Design, splits: int) -> dict[int, Outcome]:
        """Return the finished splits of a study, by number, or raise where the folder is unfit."""
        written = self._about = manifest(design)
        if self.folder.is_file() or (self.folder.is_dir() and any(self.folder.iterdir())):
            try:
                written = dict(json.loads((self.folder / MANIFEST).read_text(encoding="utf-8")))
            except (OSError, ValueError, TypeError) as reason:
                raise InputError(
                    "checkpoint-unknown",
                    f"{self.folder} is no folder of finished splits",
                    expected=f"a folder that is new or empty, or the {MANIFEST} of a study in it",
                    found=str(reason),
                    hint="another folder for the checkpoint",
                ) from reason
        differences = []
        for key in {**self._about, **written}:
            parts = (self._about, written)
            new, old = (json.dumps(part.get(key), sort_keys=True) for part in parts)
            if new != old:
                described = _DIGEST in new + old or "{" in new + old
                differences.append(key if described else f"{key} {new}, was {old}")
        if differences:
            raise InputError(
                "checkpoint-other",
                f"{self.folder} keeps splits of another study",
                expected="the same data, methods and settings, with any number of splits",
                found=listed(differences),
                hint="another folder for the checkpoint, or delete this one",
                details={"differences": differences},
            )
        finished: dict[int, Outcome] = {}
        for number in range(splits):
            # A file that cannot be read, as after a power cut, is computed again.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                plain = json.loads(self._file(number).read_text(encoding="utf-8"))
                finished[number] = read_outcome(plain)
        return finished

    def keep(self, outcome: Outcome) -> None:
        """Write a finished split, whole or not at all."""
        if not (self.folder / MANIFEST).is_file():
            self._write(self.folder / MANIFEST, self._about)
        self._write(self._file(outcome.number), attrs.asdict(outcome))

    def discard(self) -> None:
        """Remove what was kept, and the folder where nothing else is in it."""
        for path in [*self.folder.glob("split-*.json*"), *self.folder.glob(f"{MANIFEST}*")]:
            path.unlink()
        with contextlib.suppress(OSError):  # another file is in it, or it was never made
            self.folder.rmdir()

    def _file(self, number: int) -> Path:
        return self.folder / f"split-{number}.json"

    def _write(self, path: Path, content: Mapping[str, object]) -> None:
        part = path.with_name(f"{path.name}-part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(content, default=np.ndarray.tolist), encoding="utf-8")
            part.replace(path)
        except OSError as reason:
            raise unwritable(path, reason) from reason

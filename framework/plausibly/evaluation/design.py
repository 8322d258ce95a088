"""The design of a study: its methods, what is done on each split, and warnings of them all."""

from __future__ import annotations

import builtins
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from itertools import product
from typing import Any, TypeAlias, TypeVar, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.inputs import COLUMNS, label_places
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.data.validate import seen_in_one
from plausibly.errors import InputError, PlausiblyWarning, counted, issue, listed
from plausibly.evaluation.inputs import (
    Targets,
    figures_along_order,
    meant,
    measure,
    planes_of,
)
from plausibly.evaluation.result import AGGREGATED, SET_SIZE
from plausibly.evaluation.splits import Values, nested, split, split_keys, split_seed
from plausibly.guarantee import Guarantee
from plausibly.kernels.coverage import Ties
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Hashes, Ints
from plausibly.protocols import (
    CALIBRATOR,
    COMBINER,
    SCORE,
    Calibrator,
    ComponentLike,
    Kind,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.registry import called
from plausibly.registry.parameters import has_fields, parameters_of

MethodTable: TypeAlias = Mapping[str, object]
"""Arguments of `calibrate` by name: those of `Method`."""

Methods: TypeAlias = (
    Mapping[str, MethodTable | Calibrator | str] | Sequence[MethodTable | Calibrator | str]
)
"""Methods by name, or methods that are named after their components."""

DEFAULT_SCORE = "probability"

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Method:
    """Arguments of `calibrate`."""

    calibrator: ComponentLike[Calibrator] = "expected"
    score: ComponentLike[ScoreFunction] = DEFAULT_SCORE
    combiner: ComponentLike[PValueCombiner] = "average"
    draws: int | None = None
    allow_no_guarantee: bool = False

    def table(self) -> dict[str, object]:
        """Return names and parameters as text, for the record of a study."""
        return {
            "calibrator": component_name(CALIBRATOR, self.calibrator),
            "score": component_name(SCORE, self.score),
            "combiner": component_name(COMBINER, self.combiner),
            **({} if self.draws is None else {"draws": self.draws}),
            **({"allow_no_guarantee": True} if self.allow_no_guarantee else {}),
        }

    def made(self) -> Method:
        """Return the same with the components themselves in the place of their names."""
        params = None if self.draws is None else {"draws": self.draws}
        return Method(
            calibrator=registry.resolve(CALIBRATOR, self.calibrator, params),
            score=registry.resolve(SCORE, self.score),
            combiner=registry.resolve(COMBINER, self.combiner),
            allow_no_guarantee=self.allow_no_guarantee,
        )

    def calibrated(
        self,
        predictions: xr.DataArray,
        plausibilities: xr.DataArray,
        chosen: Bools,
        seed: int,
        cluster: str | None,
    ) -> ConformalPredictor:
        return calibrate(
            predictions.isel({names.EXAMPLE: chosen}),
            plausibilities.isel({names.EXAMPLE: chosen}),
            seed=seed,
            cluster=cluster,
            **attrs.asdict(self, recurse=False),
        )


_KEYS = tuple(field.name for field in attrs.fields(Method))


def read_methods(methods: Methods) -> dict[str, Method]:
    entries: list[tuple[str, object]]
    if isinstance(methods, Mapping):
        entries = [(str(name), entry) for name, entry in methods.items()]
    else:
        entries = [("", entry) for entry in ([] if isinstance(methods, str) else methods)]
    # A text under a key of a table: one table is there instead of several.
    wrong = [
        entry
        for name, entry in entries
        if not (isinstance(entry, str | Mapping) or hasattr(entry, "calibrate"))
        or (name in _KEYS and isinstance(entry, str))
    ]
    if wrong or not entries:
        raise InputError(
            "method-malformed",
            "the methods of the study are not tables",
            expected="a list of tables with calibrator, score, combiner, "
            "or a mapping of names to them",
            found=repr(wrong[0] if wrong else methods),
            hint='methods=[{"calibrator": "majority-vote"}, {"calibrator": "expected"}]',
        )
    by_name: dict[str, Method] = {}
    for name, entry in entries:
        # A calibrator alone stands for its table.
        table = dict(entry) if isinstance(entry, Mapping) else {"calibrator": entry}
        name = name or str(table.pop("name", ""))
        if not name:
            parts = [component_name(CALIBRATOR, table.get("calibrator", "expected"))]
            if "combiner" in table:
                parts.append(component_name(COMBINER, table["combiner"]))
            score = component_name(SCORE, table.get("score", DEFAULT_SCORE))
            name = ", ".join(parts if score == DEFAULT_SCORE else [*parts, score])
        unknown = [str(key) for key in table if key not in _KEYS]
        if unknown:
            raise InputError(
                "method-key",
                f'method "{name}" has the unknown key "{unknown[0]}"',
                expected=f"some of {', '.join(_KEYS)}",
                found=listed(unknown),
                hint=meant(unknown[0], _KEYS) or "leave it out",
            )
        if name in by_name:
            raise InputError(
                "method-twice",
                f'two methods of the study are called "{name}"',
                expected="different names",
                found=name,
                hint='add a name to one of them, such as name = "first"',
            )
        # Any: calibrate checks each of them.
        by_name[name] = Method(**cast("dict[str, Any]", table))
    return by_name


def component_name(kind: Kind[Any], component: object) -> str:  # Any: one function for three kinds
    """Return the name of a component, with the parameters where a table gives some."""
    if isinstance(component, str):
        return component
    if isinstance(component, Mapping):
        parts = [
            f"{key}={component_name(kind, value) if isinstance(value, Mapping) else value}"
            for key, value in component.items()
            if key != "name"
        ]
        name = str(component.get("name", ""))
        return f"{name}({', '.join(parts)})" if parts else name
    return called(kind, component)


def with_draws(calibrator: T, draws: int) -> T | None:
    """Return a calibrator with another number of draws, None for one that has no such parameter."""
    if not has_fields(type(calibrator)):
        return None
    changes: dict[str, object] = {}
    by_field = is_dataclass(calibrator)
    for parameter in parameters_of(type(calibrator)):
        value: object = getattr(calibrator, parameter.field, None)
        inner = with_draws(value, draws) if hasattr(value, "calibrate") else None
        changed = draws if parameter.name == "draws" else inner
        if changed is not None:
            changes[parameter.field if by_field else parameter.name] = changed
    evolve = cast("Callable[..., T]", replace if by_field else attrs.evolve)
    return evolve(calibrator, **changes) if changes else None


_KINDS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Warning)
}


@attrs.frozen
class Recorded:
    """A warning as plain data, and in which split of a study it was issued.

    A `PlausiblyWarning` has its name, its first line and its fields. Any other has its text and the
    nearest class of Python itself, since another process or a file may not know its own.
    """

    kind: str
    text: str
    fields: dict[str, Any] | None  # Any: each field has its own type
    filename: str
    line: int
    split: int | None = None


@contextmanager
def record_warnings(recorded: list[Recorded], split: int | None = None) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message, fields = warning.message, None
        if isinstance(message, PlausiblyWarning):
            # The same, whether it was issued here, in another process, or read from a file.
            fields = json.loads(json.dumps(message.fields(), default=_plain))
            kind, text = message.name, message.what
        else:
            nearest = (k for k in type(message).__mro__ if _KINDS.get(k.__name__) is k)
            kind, text = next(nearest).__name__, str(message)
        recorded.append(Recorded(kind, text, fields, warning.filename, warning.lineno, split))


def _plain(value: object) -> object:
    """Return plain data for what JSON does not know."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def issue_again(recorded: Sequence[Recorded], splits: int) -> None:
    """Issue each warning once, whatever its numbers."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for warning in recorded:
        groups.setdefault((warning.kind, warning.text), []).append(warning)
    for (kind, text), group in groups.items():
        first = group[0]
        if first.fields is None:
            warnings.warn_explicit(text, _KINDS[kind], first.filename, first.line)
            continue
        number = len({member.split for member in group} - {None})
        scope = f" (in {counted(number)} of {counted(splits)} splits)" if number < splits else ""
        what = f"{text}{scope}" if number else text
        issue(PlausiblyWarning(**{**first.fields, "what": what}))


BY_GROUP = "cluster_coverage"
"""The mean over groups of the mean aggregated coverage within."""


def per(cluster: str) -> str:
    """Return the words for a level that is a mean over clusters."""
    return f'per "{cluster}"'


@attrs.frozen
class Stated:
    """A guarantee in one cell of a study: its level, NaN or the level of all answers, and text."""

    level: float | None
    value: float
    short: str

    @classmethod
    def by(cls, guarantee: Guarantee) -> Stated:
        level = None if guarantee.level is None else float(guarantee.level)
        short = attrs.evolve(guarantee, vacuous=False).short()
        if guarantee.cluster and level is not None:
            short = f"{short} {per(guarantee.cluster)}"
        aggregated = guarantee.target == "aggregated" and not guarantee.cluster
        return cls(level, level if aggregated and level is not None else math.nan, short)


@attrs.frozen(kw_only=True, eq=False)
class Outcome:
    number: int
    n_test: int
    n_calibration: Ints
    measures: Mapping[str, Floats]
    vacuous: Bools
    stated: Sequence[Stated]
    guarantees: Mapping[str, list[dict[str, object]]]
    warnings: tuple[Recorded, ...]


@attrs.frozen(kw_only=True, eq=False)
class Design:
    """A study without its splits."""

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    methods: Mapping[str, Method]
    alphas: Sequence[AlphaLike]
    test: float
    cluster: str | None = None
    groups: Values | None = None
    strata: Values | None = None
    seed: int = 0
    ties: Ties = "first"
    true_label: Ints | None = None
    draws: tuple[int, ...] | None = None
    sizes: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of methods, alphas, numbers of draws, and sizes."""
        draws, sizes = len(self.draws or (0,)), len(self.sizes or (0,))
        return len(self.methods), len(self.alphas), draws, sizes

    def run(self, number: int) -> Outcome:
        keys = split_keys(self.seed, number)
        hashes = hash_names(self.predictions[names.EXAMPLE].values)
        test = split(hashes, keys, test=self.test, groups=self.groups, strata=self.strata)
        subsets = self._subsets(number, hashes, keys, ~test)
        uniform = None
        if self.ties == "random":
            uniform = keys.child("ties").uniform(hashes[test])[:, 0]
        new = self.predictions.isel({names.EXAMPLE: test})
        targets = Targets(
            self.plausibilities.values[test],
            None if self.true_label is None else self.true_label[test],
            ties=self.ties,
            uniform=uniform,
            order=np.argsort(new[names.LABEL].values),
            along=self._along,
        )
        groups = None if self.groups is None else self.groups[test]
        seed = split_seed(self.seed, number)
        measures: dict[str, Floats] = {}
        vacuous = np.zeros(self.shape, dtype=np.bool_)
        stated = np.empty(self.shape, dtype=object)
        guarantees: dict[str, list[dict[str, object]]] = {}
        recorded: list[Recorded] = []
        most, largest = (int(np.argmax(numbers or (0,))) for numbers in (self.draws, self.sizes))
        cells = product(enumerate(self.methods), enumerate(subsets))
        for (place, name), (at, subset) in cells:
            method = self.methods[name]
            changes = self.draws is not None and self.uses_draws(name)
            for column, draws in enumerate((self.draws if changes else None) or [None]):
                columns = slice(column, column + 1) if changes else slice(None)
                if draws is not None:
                    calibrator = with_draws(method.calibrator, draws) or method.calibrator
                    method = attrs.evolve(method, calibrator=calibrator)
                with record_warnings(recorded, number):
                    predictor = method.calibrated(
                        self.predictions, self.plausibilities, subset, seed, self.cluster
                    )
                    read = as_asked(predictor, new, keys)
                    sets = sets_of(predictor, read, self.alphas)
                    means = [exact_means(plane, targets, groups) for plane in sets]
                    by_alpha = [predictor.guarantee(alpha) for alpha in self.alphas]
                for alpha, guarantee in enumerate(by_alpha):
                    where = (place, alpha, columns, at)
                    for measured, value in means[alpha].items():
                        measures.setdefault(measured, np.empty(self.shape))[where] = value
                    vacuous[where] = guarantee.vacuous
                    stated[where] = Stated.by(guarantee)
                if at == largest and (not changes or column == most):
                    guarantees[name] = [at_alpha.to_json() for at_alpha in by_alpha]
        return Outcome(
            number=number,
            n_test=int(test.sum()),
            n_calibration=np.array([subset.sum() for subset in subsets], dtype=np.int64),
            measures=measures,
            vacuous=vacuous,
            stated=tuple(stated.ravel().tolist()),
            guarantees=guarantees,
            warnings=tuple(recorded),
        )

    @property
    def _along(self) -> Ints | None:
        """Places of the labels along their order: that of a score, or a coordinate."""
        scores = [registry.resolve(SCORE, method.score) for method in self.methods.values()]
        name = next((score.order for score in scores if score.order), names.ORDER)
        if name == COLUMNS:
            return np.arange(self.predictions.sizes[names.LABEL])
        places = label_places(name, [self.predictions, self.plausibilities])
        return None if places is None else np.array(places)

    def uses_draws(self, name: str) -> bool:
        return with_draws(self.methods[name].calibrator, 1) is not None

    def _subsets(self, number: int, hashes: Hashes, keys: Keys, calibration: Bools) -> list[Bools]:
        if self.sizes is None:
            return [calibration]
        rows, masks = np.flatnonzero(calibration), []
        groups = None if self.groups is None else self.groups[rows]
        strata = None if self.strata is None else self.strata[rows]
        subsets = nested(hashes[rows], keys.child("size"), self.sizes, groups=groups, strata=strata)
        for size, inside in zip(self.sizes, subsets, strict=True):
            if size > len(rows) or not inside.any():
                whole = "" if self.cluster is None else f', and whole values of "{self.cluster}"'
                raise InputError(
                    "option-range",
                    f"split {number} has no {size:,} calibration examples",
                    expected=f"sizes that every split has{whole}",
                    found=f"{several(len(rows), 'example')} on the calibration side",
                    hint=f"sizes up to {len(rows):,}, larger than one cluster",
                    source="sizes",
                )
            subset = np.zeros(len(hashes), dtype=np.bool_)
            subset[rows[inside]] = True
            masks.append(subset)
        return masks


def as_asked(predictor: ConformalPredictor, predictions: xr.DataArray, keys: Keys) -> xr.DataArray:
    """Return test predictions as a predictor reads them: in one augmentation, or in all."""
    if names.AUGMENTATION in predictions.dims and not predictor.metadata.augmentations:
        return seen_in_one(predictions, keys.child("augmentation"))
    return predictions


def sets_of(
    predictor: ConformalPredictor, predictions: xr.DataArray, alphas: Sequence[AlphaLike]
) -> list[Bools]:
    """Return the sets of new examples, (example, label), one array per alpha."""
    if predictor.needs_only_scores:
        # The same sets without labels, which cost more than all else on small data.
        return [predictor.predict_array(predictions.values, alpha) for alpha in alphas]
    return planes_of(predictor.predict(predictions, alphas))


def exact_means(plane: Bools, targets: Targets, groups: Values | None) -> dict[str, float]:
    """Return the means at one alpha, summed exactly: rows in any order give the same."""
    measured = measure(plane, targets).outcomes
    along = figures_along_order(measured)
    outcomes = {name: values[:, 0] for name, values in measured.items()}
    outcomes["share_empty"] = 1.0 * (outcomes[SET_SIZE] == 0)
    means = {name: exact_mean(values) for name, values in outcomes.items()}
    means |= {name: float(values[0]) for name, values in along.items()}
    if groups is not None:
        _, code = np.unique(groups, return_inverse=True)
        sizes = np.bincount(code)
        means[BY_GROUP] = math.fsum(outcomes[AGGREGATED] / sizes[code]) / len(sizes)
    return means


def exact_mean(values: NDArray[Any]) -> float:  # Any: numbers or flags
    return math.fsum(values.tolist()) / len(values)

"""Sets beside plausibilities: what every measure of coverage starts from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.inputs import FINGERPRINT, GUARANTEES, OVERLAP
from plausibly.data import align, names
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.plausibilities import about_packed, slots_of
from plausibly.errors import InputError, counted, warn
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.intervals import Interval, IntervalMethod
from plausibly.evaluation.measuring import Known, Measuring, Opinions, measure
from plausibly.evaluation.summary import ENDS, ROUGH, Outcomes
from plausibly.guarantee import Guarantee
from plausibly.kernels.coverage import Ties, row_blocks
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Slots
from plausibly.kernels.types import Bools, Floats, Hashes, Ints

_CARRIED = (GUARANTEES, FINGERPRINT, OVERLAP)


@attrs.frozen(kw_only=True, eq=False)
class Judged:
    """Prediction sets and plausibilities of the same examples and labels, ready to be measured.

    Attributes
    ----------
    sets : DataArray of bool, (example, label[, alpha])
    given : DataArray, (example, label), or packed Dataset
        The plausibilities.
    hashes : ndarray of uint64, (example,)
        Of the names of the examples.
    order : ndarray of int, (example,)
        Rows in an order of their names' keys: no figure depends on the caller's order, not even by
        the rounding of a sum, and betting reads outcomes in an order that they have no part in.
    clusters : ndarray of int, (example,), or None
        Codes, in the order of the rows.
    method, confidence, seed
        Of the intervals.
    carried : mapping
        Attributes that every result has.
    """

    sets: xr.DataArray
    given: xr.DataArray | xr.Dataset
    hashes: Hashes
    order: NDArray[np.intp]
    clusters: Ints | None
    method: IntervalMethod
    confidence: float
    seed: int
    carried: Mapping[str, object]

    @cached_property
    def about(self) -> xr.DataArray:
        """What has the coordinates of the plausibilities; packed ones have no values here."""
        if isinstance(self.given, xr.DataArray):
            return self.given
        nothing = np.broadcast_to(0.0, slots_of(self.given).shape)
        coords = about_packed(self.given).coords
        return xr.DataArray(nothing, dims=(names.EXAMPLE, names.LABEL), coords=coords)

    @property
    def opinions(self) -> Floats | Slots:
        """Plausibilities in the caller's order, in the form that was given."""
        if isinstance(self.given, xr.Dataset):
            return slots_of(self.given)
        values: Floats = self.given.values
        return values

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest plausibility of each example in the caller's order, (example,)."""
        lam = self.opinions
        values: Floats = lam.weight if isinstance(lam, Slots) else lam
        largest: NDArray[np.float64] = values.max(axis=1).astype(np.float64)
        return largest

    @property
    def labels(self) -> list[str]:
        """Names of the labels, in order."""
        return list(map(str, self.sets[names.LABEL].values))

    @property
    def alpha_dims(self) -> list[str]:
        """``["alpha"]``, or nothing where the sets have one alpha."""
        return [names.ALPHA] if names.ALPHA in self.sets.dims else []

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64], list[Bools]]]:
        """Yield places in `order` with plausibilities and sets, dense for a few examples at a time.

        Plausibilities are float64, (some, label); sets are (some, label), one array an alpha.
        """
        lam, inside = self.opinions, self.sets.values
        for rows in row_blocks(inside.shape):
            some = self.order[rows]
            dense: Floats = lam.take(some).dense() if isinstance(lam, Slots) else lam[some]
            yield rows, dense.astype(np.float64), _planes(inside[some])

    def columns(self) -> Iterator[tuple[NDArray[np.float64], list[NDArray[np.float64]]]]:
        """Yield, label by label in `order`, its plausibilities (example,) and whether sets hold it.

        Sets are 0 and 1, (example,), one array an alpha.
        """
        lam, inside = self.opinions, self.sets.values
        dense = (
            lam.by_label(self.order)
            if isinstance(lam, Slots)
            else (lam[self.order, label] for label in range(len(self.labels)))
        )
        for label, column in enumerate(dense):
            held = inside[self.order, label].astype(np.float64)
            yield column.astype(np.float64), [held] if held.ndim == 1 else list(held.T.copy())

    def coordinate(self, name: str) -> NDArray[np.generic]:
        """Return a coordinate of the examples in `order`, (example,)."""
        values = inputs.example_values(name, (self.sets, self.about))
        return values[self.order]

    @cached_property
    def promises(self) -> list[Guarantee]:
        """Guarantees that the sets carry, one an alpha."""
        stated = json.loads(str(self.carried.get(GUARANTEES, "[]")))
        return [Guarantee.from_json(one) for one in stated]

    def where_known(self, name: str) -> NDArray[np.generic] | None:
        """Return a coordinate of the examples in `order`, (example,), None where one has none."""
        values = inputs.known_values(name, (self.sets, self.about))
        return None if values is None else values[self.order]

    def measured(self, ties: Ties = "first") -> dict[str, NDArray[np.float64]]:
        """Return coverage and size of each set, (example, alpha), in the caller's order.

        Parameters
        ----------
        ties : {"first", "random", "fractional", "any", "all"}
            See `plausibly.evaluate`.
        """
        policy = inputs.check_ties(ties)
        opinions = Opinions(self.opinions, self.known(policy))
        return measure(self.sets, opinions, Measuring(ties=policy))

    def known(self, ties: Ties, codes: Ints | None = None) -> Known:
        """Return what measuring needs to know of the examples, in the caller's order.

        Parameters
        ----------
        ties : {"first", "random", "fractional", "any", "all"}
        codes : ndarray of int, (example,), optional
            Of their known labels.
        """
        if ties != "random":
            return Known(codes=codes)
        uniform = Keys(self.seed).child("evaluate/ties").uniform(self.hashes)[:, 0]
        order = np.argsort(self.sets[names.LABEL].values)
        return Known(uniform=uniform, order=order, codes=codes)

    def outcomes(self, measured: Mapping[str, NDArray[np.float64]]) -> Outcomes:
        """Return what `measured` gave in `order`, ready to be averaged."""
        clusters = None if self.clusters is None else self.clusters[self.order]
        return Outcomes(
            values={name: values[self.order] for name, values in measured.items()},
            clusters=clusters,
            labels=len(self.labels),
            method=self.method,
            confidence=self.confidence,
        )

    def interval(
        self,
        values: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        *,
        rows: NDArray[np.intp] | None = None,
        top: float = 1.0,
        among: int = 1,
    ) -> Interval:
        """Return the interval of outcomes (example,) in `order`.

        Parameters
        ----------
        values : ndarray of float64, (example,)
        weights : ndarray of float64, (example,), optional
        rows : ndarray of int, optional
            The places in `order` of the only ones that are meant, ascending.
        top : float
            Largest outcome.
        among : int
            How many intervals are to hold together (Bonferroni).
        """
        clusters = None if self.clusters is None else self.clusters[self.order]
        if rows is not None:
            values = values[rows]
            weights = None if weights is None else weights[rows]
            clusters = None if clusters is None else clusters[rows]
        return intervals.interval(
            np.ascontiguousarray(values),
            weights=weights,
            clusters=clusters,
            method=self.method,
            confidence=self.confidence,
            top=top,
            among=among,
        )

    def found(
        self, parts: Mapping[str, Sequence[Sequence[Interval]]], dim: str | None
    ) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
        """Return variables NAME_mean, NAME_low and NAME_high of intervals.

        Parameters
        ----------
        parts : mapping of str to intervals, (part, alpha)
            By the name of what was measured.
        dim : str or None
            Of the parts; None where there is one.
        """
        dims = [*([] if dim is None else [dim]), *self.alpha_dims]
        variables = {}
        for name, rows in parts.items():
            for end in ENDS if self.clusters is None else (*ENDS, ROUGH):
                values = np.array([[getattr(one, end) for one in row] for row in rows])
                values = values if self.alpha_dims else values[:, 0]
                variables[f"{name}_{end}"] = (dims, values if dim is not None else values[0])
        return variables

    def result(self, **about: object) -> xr.Dataset:
        """Return a Dataset without variables, with alpha, and the attributes of every result."""
        found = xr.Dataset()
        if names.ALPHA in self.sets.coords:
            found = found.assign_coords({names.ALPHA: self.sets[names.ALPHA].variable})
        found.attrs = {**self.carried, "n": len(self.order), **about}
        for array in (self.sets, self.given):
            found = with_left_out(found, read_left_out(array.attrs))
        return found


def judge(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
    later: bool = False,
) -> Judged:
    """Return sets and plausibilities, checked and matched by name.

    Parameters
    ----------
    sets, plausibilities, cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.
    later : bool
        Whether plausibilities in chunks stay there; by default they are read now.

    Raises
    ------
    InputError
        Where names do not match, a coordinate is missing, or an option is unknown.

    Warns
    -----
    PlausiblyWarning
        ``evaluated-on-calibration`` where the examples calibrated the predictor.
    """
    intervals.check_method(interval, confidence)
    inside = inputs.as_sets(sets, whose)
    overlap = min(int(sets.attrs.get(OVERLAP, 0)), inside.sizes[names.EXAMPLE])
    if overlap:
        _warn_of_overlap(overlap, inside.sizes[names.EXAMPLE], whose)
    inside, lam = _matched(inside, inputs.as_given(plausibilities, later=later), only_common, whose)
    hashes = hash_names(inside[names.EXAMPLE].values)
    carried = {name: sets.attrs[name] for name in _CARRIED if name in sets.attrs}
    carried |= {
        "interval": interval,
        "confidence": confidence,
        "seed": seed,
        "labels": inside.sizes[names.LABEL],
    }
    judged = Judged(
        sets=inside,
        given=lam,
        hashes=hashes,
        order=np.lexsort((hashes, Keys(seed).child("evaluate/order").uniform(hashes)[:, 0])),
        clusters=None,
        method=interval,
        confidence=confidence,
        seed=seed,
        carried=carried,
    )
    if cluster is None:
        return judged
    clusters = inputs.codes_of(inputs.example_values(cluster, (inside, judged.about)))[1]
    carried |= {"cluster": cluster, "clusters": int(clusters.max()) + 1}
    return attrs.evolve(judged, clusters=clusters)


def _matched(
    sets: xr.DataArray, given: xr.DataArray | xr.Dataset, only_common: bool, whose: str
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset]:
    """Return sets and plausibilities of the same labels and examples, in the order of the sets."""
    labels = tuple(map(str, sets[names.LABEL].values))
    if isinstance(given, xr.Dataset):
        given = align.match_labels(given, labels, whose="plausibilities", other=whose)
        return align.match_examples(
            sets, given, only_common=only_common, whose=whose, other="plausibilities"
        )
    given = align.match_labels(given, labels, whose="plausibilities", other=whose)
    return align.match_examples(
        sets, given, only_common=only_common, whose=whose, other="plausibilities"
    )


def _planes(values: Bools) -> list[Bools]:
    """Return sets (example, label[, alpha]) as one array an alpha."""
    return [values] if values.ndim == 2 else list(np.moveaxis(values, 2, 0))


def check_dim(found: xr.Dataset, name: str) -> None:
    """Raise ``coordinate-reserved`` where a coordinate is called like a part of the result."""
    if name in found.variables or name in found.dims:
        raise InputError(
            "coordinate-reserved",
            f'the result has a variable of its own called "{name}"',
            expected="a coordinate with another name",
            got=name,
            do=f'rename it: assign_coords({{"example_{name}": ...}})',
        )


def _warn_of_overlap(overlap: int, examples: int, whose: str) -> None:
    """Say that the sets were measured on what calibrated them."""
    share = "all" if overlap == examples else f"{counted(overlap)} of"
    warn(
        "evaluated-on-calibration",
        f"{share} {counted(examples)} examples of {whose} calibrated their predictor",
        expected="new examples; this coverage is no evidence",
        do="evaluate on others, or plausibly.compare for repeated splits",
        whose=whose,
        details={"overlap": overlap, "examples": examples},
        stacklevel=4,
    )

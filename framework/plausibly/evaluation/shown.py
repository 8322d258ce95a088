"""Evaluations and studies as a notebook shows them; as text they are Datasets like any other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Self

import xarray as xr

from plausibly import text
from plausibly.data import names
from plausibly.data.named import is_lazy
from plausibly.errors import counted

TIED_SHARE = "tied_share"
_NOT_MEASURED = "not measured yet: compute() or load() reads each chunk once"
_AGGREGATED = "aggregated_coverage"
_SPLIT = "split"


class Evaluation(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """What `plausibly.evaluate` measured: in a notebook with its table and verdict on top."""

    __slots__ = ()

    def load(self, **kwargs: Any) -> Self:  # Any: what Dask takes
        """Measure what was not measured yet, all in one pass over the chunks; return this."""
        super().load(**kwargs)
        if TIED_SHARE in self.variables:
            self.attrs[TIED_SHARE] = float(self[TIED_SHARE])
            del self[TIED_SHARE]
        return self

    def __dask_postcompute__(self) -> tuple[Callable[..., Evaluation], tuple[object, ...]]:
        how = super().__dask_postcompute__()  # type: ignore[no-untyped-call]  # xarray lacks the hint
        return _computed, how

    def __repr__(self) -> str:
        text = _as_dataset(super().__repr__(), self)
        return f"{text}\n{_NOT_MEASURED[0].upper()}{_NOT_MEASURED[1:]}." if is_lazy(self) else text

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if is_lazy(self):
            said = text.paragraph(f"{_NOT_MEASURED}.")
            return text.framed("evaluation", said, text.unfolded("variables", variables))
        if not _is_evaluation(self):
            return variables
        return text.framed("evaluation", *_evaluated(self), text.unfolded("variables", variables))


class Study(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """What `plausibly.compare` measured: in a notebook with its table on top."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _as_dataset(super().__repr__(), self)

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if not _is_study(self):
            return variables
        return text.framed("study", *_compared(self), text.unfolded("variables", variables))


def _computed(
    results: Iterable[Any],  # Any: arrays, as Dask has them
    rebuild: Callable[..., Evaluation],
    arguments: tuple[object, ...],
) -> Evaluation:
    """Return the evaluation of which Dask has computed these arrays."""
    return rebuild(results, *arguments).load()


def measured(result: xr.Dataset) -> xr.Dataset:
    """Return a result whose numbers are there: one in chunks is computed, all in one pass."""
    return result.compute() if is_lazy(result) else result


def _as_dataset(text: str, result: xr.Dataset) -> str:
    """Return the text of a result as that of the Dataset that it is."""
    return text.replace(f"xarray.{type(result).__name__}", "xarray.Dataset", 1)


def _is_evaluation(result: xr.Dataset) -> bool:
    """Return whether all that the table reads is there, as it is not in every part."""
    needed = (f"{_AGGREGATED}_mean", "voted_coverage_mean", "set_size_mean", "n")
    parts = [f"stratum_{_AGGREGATED}_low", "stratum_n", "share_empty", "share_singleton"]
    dims = {names.EXAMPLE, "ambiguity"} <= set(result.dims)
    known = dims and {"confidence", "ties", TIED_SHARE} <= set(result.attrs)
    whole = names.ALPHA not in result.dims or result.sizes[names.ALPHA] > 0
    return known and whole and all(name in result for name in (*needed, *parts))


def _is_study(study: xr.Dataset) -> bool:
    measures = (_AGGREGATED, "voted_coverage", "set_size", "vacuous", "guaranteed_level")
    dims = {"method", _SPLIT, names.ALPHA}
    whole = dims <= set(study.dims) and all(study.sizes[dim] for dim in dims)
    return whole and all(name in study for name in (*measures, "guaranteed"))


def _evaluated(result: xr.Dataset) -> list[text.Html]:
    """Return a table of all alphas, and the verdict on each."""
    from plausibly.evaluation.describe import QUANTITIES, decimal, ends, outwards, verdict

    planes = [result]
    if names.ALPHA in result.dims:
        planes = [result.isel({names.ALPHA: place}) for place in range(result.sizes[names.ALPHA])]
    rows = []
    for plane in planes:
        alpha = f"{float(plane[names.ALPHA]):g}" if names.ALPHA in plane.coords else "-"
        for quantity, title in QUANTITIES.items():
            if f"{quantity}_mean" in plane:
                mean, low, high = (
                    float(plane[f"{quantity}_{end}"]) for end in ("mean", "low", "high")
                )
                rows.append((alpha, title, decimal(mean), ends(low, high)))
        size = f"{float(plane['set_size_mean']):.2f}"
        low, high = outwards(float(plane["set_size_low"]), float(plane["set_size_high"]), 2)
        rows.append((alpha, "labels in a set", size, f"{low:.2f} to {high:.2f}"))
    level = f"{100 * float(result.attrs['confidence']):g} % interval"
    said = verdict(result).splitlines()
    if len(planes) > 1:
        alphas = [f"{alpha:g}" for alpha in result[names.ALPHA].values]
        said = [f"alpha {alpha}: {line}" for alpha, line in zip(alphas, said, strict=True)]
    return [
        text.paragraph(f"{counted(int(result['n']))} examples"),
        text.table(rows, head=("alpha", "coverage", "mean", level)),
        *(text.paragraph(line) for line in said),
    ]


def _compared(study: xr.Dataset) -> list[text.Html]:
    """Return a table of all alphas and methods."""
    from plausibly.evaluation.describe import decimal
    from plausibly.evaluation.tables import cells, guaranteed

    rows = []
    for place in range(study.sizes[names.ALPHA]):
        plane = study.isel({names.ALPHA: place})
        for name, one in cells(plane):
            covered = one[_AGGREGATED].values
            spread = float(covered.std(ddof=1)) if covered.size > 1 else math.nan
            rows.append(
                (
                    f"{float(plane[names.ALPHA]):g}",
                    name,
                    decimal(float(covered.mean())),
                    decimal(spread),
                    decimal(float(one["voted_coverage"].mean())),
                    f"{float(one['set_size'].mean()):.2f}",
                    guaranteed(one),
                )
            )
    head = (
        "alpha",
        "calibrated",
        "aggregated coverage",
        "spread",
        "voted coverage",
        "set size",
        "guaranteed (aggregated)",
    )
    splits = counted(study.sizes[_SPLIT])
    return [
        text.paragraph(f"means over {splits} random split{'' if splits == '1' else 's'}"),
        text.table(rows, head=head),
    ]

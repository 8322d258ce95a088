"""`.plausibly.plot`: each method draws the figure of `plausibly.plots` that is called like it."""

from __future__ import annotations

import xarray as xr

from plausibly import plots
from plausibly.plots import reading
from plausibly.plots.style import Axes


class DatasetFigures:
    """Figures of a result; `repr` says which there are.

    Parameters
    ----------
    result : Dataset

    Notes
    -----
    Every method takes matplotlib axes (``axes=``) and returns those that it drew into. A figure
    that the result does not have is refused with ``figure-unsuitable``.
    """

    def __init__(self, result: xr.Dataset) -> None:
        self._result = result

    def __repr__(self) -> str:
        found = reading.figures_of(self._result)
        return f"figures: {', '.join(found)}" if found else "no figures: no result of plausibly"

    def coverage(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw what the sets cover: `plausibly.plots.coverage`."""
        return plots.coverage(self._result, alpha=alpha, axes=axes)

    def sizes(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw how large the sets are: `plausibly.plots.sizes`."""
        return plots.sizes(self._result, alpha=alpha, axes=axes)

    def alphas(self, *, axes: Axes | None = None) -> Axes:
        """Draw coverage at every alpha: `plausibly.plots.alphas`."""
        return plots.alphas(self._result, axes=axes)

    def strata(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw coverage in strata: `plausibly.plots.strata`."""
        return plots.strata(self._result, alpha=alpha, axes=axes)

    def groups(
        self, *, alpha: float | None = None, most: int = 20, axes: Axes | None = None
    ) -> Axes:
        """Draw coverage in groups or subgroups: `plausibly.plots.groups`."""
        return plots.groups(self._result, alpha=alpha, most=most, axes=axes)

    def labels(
        self, *, alpha: float | None = None, most: int = 20, axes: Axes | None = None
    ) -> Axes:
        """Draw coverage of each label: `plausibly.plots.labels`."""
        return plots.labels(self._result, alpha=alpha, most=most, axes=axes)

    def risk(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw what sets leave out by risk: `plausibly.plots.risk`."""
        return plots.risk(self._result, alpha=alpha, axes=axes)

    def realised(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw what sets cover of each example: `plausibly.plots.realised`."""
        return plots.realised(self._result, alpha=alpha, axes=axes)

    def uniformity(self, *, axes: Axes | None = None) -> Axes:
        """Draw distribution functions of p-values: `plausibly.plots.uniformity`."""
        return plots.uniformity(self._result, axes=axes)

    def p_values(self, *, bins: int = 20, axes: Axes | None = None) -> Axes:
        """Draw histograms of p-values: `plausibly.plots.p_values`."""
        return plots.p_values(self._result, bins=bins, axes=axes)

    def agreement(self, *, axes: Axes | None = None) -> Axes:
        """Draw how much annotators agree: `plausibly.plots.agreement`."""
        return plots.agreement(self._result, axes=axes)

    def annotators(self, *, most: int = 20, axes: Axes | None = None) -> Axes:
        """Draw how each annotator compares: `plausibly.plots.annotators`."""
        return plots.annotators(self._result, most=most, axes=axes)

    def disagreement(self, *, most: int = 15, axes: Axes | None = None) -> Axes:
        """Draw over which labels annotators part: `plausibly.plots.disagreement`."""
        return plots.disagreement(self._result, most=most, axes=axes)

    def confusion(
        self, *, annotator: str | None = None, most: int = 15, axes: Axes | None = None
    ) -> Axes:
        """Draw what an annotator says for each label: `plausibly.plots.confusion`."""
        return plots.confusion(self._result, annotator=annotator, most=most, axes=axes)

    def planning(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw where coverage lies by the number of examples: `plausibly.plots.planning`."""
        return plots.planning(self._result, alpha=alpha, axes=axes)

    def sensitivity(self, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
        """Draw coverage by the aggregator: `plausibly.plots.sensitivity`."""
        return plots.sensitivity(self._result, alpha=alpha, axes=axes)


class ArrayFigures:
    """Figures of a DataArray.

    Parameters
    ----------
    array : DataArray
    """

    def __init__(self, array: xr.DataArray) -> None:
        self._array = array

    def __repr__(self) -> str:
        return "figures: threshold (of thresholds), example (of sets and plausibilities)"

    def threshold(self, *, axes: Axes | None = None) -> Axes:
        """Draw thresholds against alpha: `plausibly.plots.threshold`."""
        return plots.threshold(self._array, axes=axes)

    def example(
        self,
        name: str | None = None,
        *,
        plausibilities: xr.DataArray | None = None,
        predictions: xr.DataArray | None = None,
        most: int = 12,
        axes: Axes | None = None,
    ) -> Axes:
        """Draw one example: `plausibly.plots.example`, this array being its sets or plausibilities.

        Parameters
        ----------
        name : str, optional
            Of the example; by default the first.
        plausibilities, predictions : DataArray, (example, label), optional
            To draw beside prediction sets.
        most : int
            Labels that are shown.
        axes : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        if self._array.dtype == bool:
            return plots.example(
                plausibilities, predictions, self._array, name=name, most=most, axes=axes
            )
        own = self._array if plausibilities is None else plausibilities
        return plots.example(own, predictions, name=name, most=most, axes=axes)

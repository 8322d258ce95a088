"""What a pilot says of the spread of coverage: its missed mass between and within examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import rounded_up
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted
from plausibly.evaluation.some_rows import above_zero, opinions_of, p_value_rows
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Slots
from plausibly.kernels.types import Floats, Ints
from plausibly.planning.law import Shares, pool_rank
from plausibly.protocols import ComponentLike, ScoreFunction

_ROUNDING = 1e-9  # sums of shares are off by less; what they are compared with is often whole


@attrs.frozen(kw_only=True, eq=False)
class Pilot:
    """The atoms of a pilot in the order of their scores, ready to be resampled.

    Attributes
    ----------
    values : ndarray of float64, (example, slot)
        Of the labels that anybody finds plausible, in the order of the scores: p-values of the
        calibrator ``expected`` on the pilot itself, which part these labels as the scores do.
        Padding repeats the last of a row.
    slots : Slots
        The plausibilities of these labels, float64.
    clusters : ndarray of int, (example,), or None
    """

    values: Floats
    slots: Slots
    clusters: Ints | None

    @classmethod
    def of(
        cls,
        predictions: xr.DataArray,
        plausibilities: xr.DataArray | xr.Dataset,
        score: ComponentLike[ScoreFunction],
        seed: int,
        clusters: Ints | None,
    ) -> Pilot:
        """Return the pilot of matched predictions and plausibilities (example, label)."""
        predictor = calibrate(predictions, plausibilities, score=score, seed=seed)
        # In an order of names: neither sums nor resamples depend on the caller's rows or columns.
        order = np.argsort(hash_names(predictions[names.EXAMPLE].values))
        labels = np.argsort(hash_names(predictions[names.LABEL].values))
        slots = above_zero(opinions_of(plausibilities)).recoded(np.argsort(labels), len(labels))
        last = slots.filled[:, None] - 1
        code = np.take_along_axis(
            slots.label, np.minimum(np.arange(slots.label.shape[1]), last), axis=1
        )
        values = np.empty(code.shape)
        for rows, some in p_value_rows(predictor, predictions):
            values[rows] = np.take_along_axis(some, labels[code[rows]], axis=1)
        weight = slots.weight.astype(np.float64)
        return cls(
            values=values[order],
            slots=Slots(weight[order], slots.label[order], slots.labels),
            clusters=None if clusters is None else clusters[order],
        )

    def __len__(self) -> int:
        return len(self.values)

    def missed(self, alpha: Fraction) -> NDArray[np.float64]:
        """Return the plausibility (example,) that sets of the whole pilot at `alpha` miss.

        The sets leave out as much as they can without missing more than alpha of the pilot.
        """
        atoms = self._atoms
        places = np.searchsorted(atoms.values, self.values.ravel(), side="right")
        share = (atoms.cumulative[places] / len(self)).reshape(self.values.shape)
        out = share <= float(alpha) + _ROUNDING
        return row_sums(np.where(out, self.slots.weight, 0.0))

    def shares(self, alpha: Fraction) -> Shares:
        """Return the shares of variance at `alpha`.

        Raises
        ------
        InputError
            ``pilot-too-small`` and ``pilot-flat``.
        """
        self._check_size(alpha)
        missed = self.missed(alpha)
        size = len(missed)
        if float(missed.sum()) <= 0.0:
            raise InputError(
                "pilot-flat",
                f"at alpha {float(alpha):g} the sets of the pilot miss nothing",
                expected="scores that tell labels apart",
                got=f"too many of {several(size, 'example')} at the least score",
                do="another score, a larger alpha, or plan without a pilot: one draw, exactly",
                whose="pilot",
            )
        off = missed - missed.mean()
        between = float(off @ off) / (size - 1)
        return Shares(
            between=between,
            within=float((missed * (1.0 - missed)).mean()),
            design_effect=1.0 if self.clusters is None else _design_effect(off, self.clusters),
            atom=self._atom(alpha),
        )

    def _atom(self, alpha: Fraction) -> float:
        """Return the mean plausibility of the labels around the threshold, by plausibility."""
        atoms = self._atoms
        share = atoms.cumulative[1:] / len(self)
        near = (share >= float(alpha) / 2) & (share <= 2 * float(alpha))
        masses = atoms.masses[near] if near.any() else atoms.masses
        return float(masses @ masses) / float(masses.sum())

    def _check_size(self, alpha: Fraction) -> None:
        # One whole vote of the pilot may then be missed.
        least = max(math.ceil(1 / alpha), 2)
        if len(self) < least:
            raise InputError(
                "pilot-too-small",
                f"a pilot of {several(len(self), 'example')} says nothing at alpha "
                f"{float(alpha):g}",
                expected=f"{counted(least)} examples or more",
                got=counted(len(self)),
                do=f"annotate {counted(least - len(self))} more, alpha "
                f"0{rounded_up(1 / max(len(self), 2))}, or plan without a pilot: one draw, exactly",
                whose="pilot",
            )

    @cached_property
    def _atoms(self) -> _Atoms:
        order = np.argsort(self.values, axis=None, kind="stable")
        order = order[self.slots.weight.ravel()[order] > 0]
        masses = self.slots.weight.ravel()[order]
        return _Atoms(
            values=self.values.ravel()[order],
            masses=masses,
            cumulative=np.concatenate(([0.0], np.cumsum(masses))),
            row=order // self.values.shape[1],
        )

    def resampled(
        self,
        alphas: Sequence[Fraction],
        n: int,
        draws: Sequence[float],
        resamples: int,
        keys: Keys,
    ) -> NDArray[np.float64]:
        """Return the coverage (alpha, draws, resample) on the pilot of calibrations on resamples.

        Each calibrates on `n` examples drawn from the pilot with replacement, whole clusters where
        there are some, with m labels each (Algorithm 1), or on all their plausibilities.

        Parameters
        ----------
        alphas : sequence of Fraction
        n : int
        draws : sequence of float
            Each m; infinite for ``expected``. The labels of a smaller m are among those of a larger
            one.
        resamples : int
        keys : Keys
            One stream a resample.
        """
        atoms = self._atoms
        most = max((int(m) for m in draws if not math.isinf(m)), default=0)
        tau = np.empty((len(alphas), len(draws), resamples))
        for number in range(resamples):
            stream = keys.child(f"resample-{number}")
            examples = np.sort(self._examples(n, stream))  # neighbours are found faster
            drawn = self._draw(examples, most, stream)
            for column, m in enumerate(draws):
                if math.isinf(m):
                    tau[:, column, number] = self._expected(examples, alphas)
                    continue
                pool = drawn[:, : int(m)].ravel()
                ranks = [pool_rank(alpha, n, int(m)) for alpha in alphas]
                kept = [rank - 1 for rank in ranks if rank > 0]
                pool = np.partition(pool, kept) if kept else pool
                tau[:, column, number] = [pool[k - 1] if k > 0 else -math.inf for k in ranks]
        below = atoms.cumulative[np.searchsorted(atoms.values, tau, side="left")]
        found: NDArray[np.float64] = 1.0 - below / atoms.cumulative[-1]
        return found

    def _examples(self, n: int, keys: Keys) -> Ints:
        """Return `n` rows of the pilot, drawn with replacement."""
        one = hash_names(["examples"])
        if self.clusters is None:
            rows: Ints = (keys.uniform(one, n)[0] * len(self)).astype(np.int64)
            return rows
        order = np.argsort(self.clusters, kind="stable")
        sizes = np.bincount(self.clusters)
        starts = np.cumsum(sizes) - sizes
        # Enough of them, were all as small as the smallest.
        most = math.ceil(n / int(sizes.min()))
        drawn = (keys.uniform(one, most)[0] * len(sizes)).astype(np.int64)
        drawn = drawn[: int(np.searchsorted(np.cumsum(sizes[drawn]), n)) + 1]
        taken = sizes[drawn]
        within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
        cut: Ints = order[np.repeat(starts[drawn], taken) + within][:n]
        return cut

    def _expected(self, examples: Ints, alphas: Sequence[Fraction]) -> list[float]:
        """Return the least value above which all but alpha N - 1 of the mass lies, (alpha,)."""
        atoms = self._atoms
        times = np.bincount(examples, minlength=len(self))
        cumulative = np.cumsum(atoms.masses * times[atoms.row])
        limits = [float(alpha * (len(examples) + 1) - 1) for alpha in alphas]
        places = np.searchsorted(cumulative, np.array(limits) + _ROUNDING)
        values = atoms.values[np.minimum(places, len(cumulative) - 1)]
        return [-math.inf if c < 0 else float(v) for c, v in zip(limits, values, strict=True)]

    def _draw(self, examples: Ints, draws: int, keys: Keys) -> Floats:
        """Return the values (example, draw) of labels drawn from the plausibilities."""
        slots = self.values.shape[1]
        # By draws: a draw does not depend on how many there are.
        streams = (keys.child(f"draw-{draw}") for draw in range(draws))
        one = hash_names(["labels"])
        drawn = np.empty((len(examples), draws))
        for draw, stream in enumerate(streams):
            uniforms = stream.uniform(one, len(examples))[0]
            place = np.searchsorted(self._ends, examples + uniforms, side="right")
            drawn[:, draw] = self.values.ravel()[np.minimum(place, examples * slots + slots - 1)]
        return drawn

    @cached_property
    def _ends(self) -> Floats:
        """Where the labels of row i end in [i, i + 1), one row after the other."""
        shares = np.cumsum(self.slots.weight, axis=1)
        ends: Floats = (shares / shares[:, -1:] + np.arange(len(self))[:, None]).ravel()
        return ends


@attrs.frozen(kw_only=True, eq=False)
class _Atoms:
    """All plausible labels of all examples of a pilot, in ascending order of their values."""

    values: Floats
    masses: Floats
    cumulative: Floats
    row: Ints


def _design_effect(off: NDArray[np.float64], clusters: Ints) -> float:
    """Return the variance of sums over clusters in units of that of independent examples."""
    sums = np.bincount(clusters, weights=off)
    number = len(sums)
    alone = float(off @ off) * len(off) / (len(off) - 1)
    return float(sums @ sums) * number / (number - 1) / alone if alone > 0 else 1.0

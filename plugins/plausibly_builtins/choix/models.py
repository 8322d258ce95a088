"""Bradley-Terry and Luce models of the library choix, fitted to comparisons of two labels.

Labels stand in the order of their names, and comparisons are sorted: what choix adds up does not
depend on the order of rows, labels or annotators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    InputError,
    Keys,
    Rows,
    answered_rows,
    listed,
    names,
    require,
    several,
    warn,
)

ACCEPTS: frozenset[str] = frozenset({"partial-ranking"})

Column = NDArray[np.float64]
Times = dict[tuple[int, int], float]
"""How often a label, by its place, was put above another."""

Estimate = Callable[..., Any]  # Any: choix has no types in its older versions
"""From comparisons to log utilities (label,)."""

Form = Literal["list", "matrix"]
"""What an estimate reads: how many labels and a list of pairs (winner, loser), or a matrix."""


def choix(called: str) -> ModuleType:
    """Return the library, or raise ``extra-missing``."""
    return require("choix", extra="ranking", whose=f"aggregator choix:{called}")


@attrs.frozen(kw_only=True, eq=False)
class Compared:
    """What was compared in one example.

    Attributes
    ----------
    labels : list of int
        Codes of the labels that a response names, in the order of their names: a place is an index
        into it.
    times : dict
        By (winner, loser), sorted.
    """

    labels: list[int]
    times: Times

    @property
    def one_sided(self) -> bool:
        """Whether some group of labels never loses to a label outside it, or never meets one."""
        above = np.eye(len(self.labels), dtype=bool)
        for winner, loser in self.times:
            above[winner, loser] = True
        for through in range(len(self.labels)):
            above |= above[:, through, None] & above[through]
        return not above.all()

    def given(self, form: Form) -> tuple[int, list[tuple[int, int]]] | tuple[Column]:
        """Return the comparisons as an estimate reads them."""
        size = len(self.labels)
        if form == "list":
            return size, [pair for pair, times in self.times.items() for _ in range(int(times))]
        found = np.zeros((size, size))
        for pair, times in self.times.items():
            found[pair] = times
        return (found,)


def aggregated(
    annotations: xr.Dataset,
    estimate: Estimate,
    *,
    called: str,
    form: Form,
    regularisation: float,
    iterations: int | None = None,
) -> xr.DataArray:
    """Return plausibilities (example, label): the softmax of the utilities of each example."""
    rows = answered_rows(annotations, ACCEPTS)
    if form == "list" and not rows.counts:
        raise InputError(
            "weights-broken",
            f"choix:{called} counts comparisons, and responses count a broken number of times",
            expected="responses that count a whole number of times",
            got=f"{names.RESPONSE_WEIGHT} that is none",
            do="aggregator choix:i-lsr, choix:lsr or plackett-luce",
            whose=f"aggregator choix:{called}",
        )
    examples = _compared(rows)
    _tell(examples, rows, called, regularisation)
    found = np.zeros((rows.n, rows.labels))
    failed: list[tuple[int, Exception]] = []
    for at, one in enumerate(examples):
        share = np.full(len(one.labels), 1.0 / max(len(one.labels), 1))
        if one.times:
            try:
                with np.errstate(all="ignore"):
                    share = _softmax(estimate(*one.given(form)))
            except (RuntimeError, ValueError, FloatingPointError) as error:
                failed.append((at, error))
        found[at, one.labels] = share
    if failed:
        raise _failure(failed, rows, called, iterations)
    return rows.plausibilities(found)


def _compared(rows: Rows) -> list[Compared]:
    """Return what was compared in each example."""
    excluded = rows.table.attrs[names.UNLISTED] == "excluded"
    by_name = np.argsort(rows.table[names.LABEL].values, kind="stable")
    rank = np.empty(rows.labels, np.intp)
    rank[by_name] = np.arange(rows.labels)
    said: list[list[tuple[float, dict[int, int]]]] = [[] for _ in range(rows.n)]
    ends = np.cumsum(rows.mentions)
    for response, end in enumerate(ends.tolist()):
        mine = slice(end - int(rows.mentions[response]), end)
        blocks = dict(zip(rank[rows.label[mine]].tolist(), rows.block[mine].tolist(), strict=True))
        if blocks and rows.weight[response] > 0:
            said[rows.example[response]].append((float(rows.weight[response]), blocks))
    return [_of_example(responses, by_name, excluded=excluded) for responses in said]


def _of_example(
    responses: list[tuple[float, dict[int, int]]], by_name: NDArray[np.intp], *, excluded: bool
) -> Compared:
    ranks = sorted({rank for _, blocks in responses for rank in blocks})
    place = {rank: at for at, rank in enumerate(ranks)}
    weights: dict[tuple[int, int], list[float]] = defaultdict(list)
    for weight, blocks in responses:
        for winner, block in blocks.items():
            for loser in ranks if excluded else blocks:
                if loser not in blocks or blocks[loser] > block:
                    weights[place[winner], place[loser]].append(weight)
    times = {pair: float(np.sort(weights[pair]).sum()) for pair in sorted(weights)}
    return Compared(labels=by_name[ranks].tolist(), times=times)


def _softmax(logs: Column) -> Column:
    if not np.isfinite(logs).all():
        raise FloatingPointError("utilities that are no finite numbers")
    share: Column = np.exp(logs - np.max(logs))
    share /= share.sum()
    return share


def _tell(examples: list[Compared], rows: Rows, called: str, regularisation: float) -> None:
    """Warn of examples whose utilities hang on the regularisation, or refuse them without one."""
    hanging = [at for at, one in enumerate(examples) if one.one_sided]
    if not hanging:
        return
    shown = _named(rows, hanging)
    what = f"comparisons of {several(len(shown), 'example')} ({listed(shown)})"
    told: dict[str, Any] = {  # Any: arguments of two functions
        "expected": "labels each of which beats every other, if by way of others",
        "got": "labels that are never beaten by some others, or never compared with them",
        "whose": "annotations",
        "details": {"examples": shown},
    }
    if regularisation == 0:
        raise InputError(
            "ranking-one-sided",
            f"without regularisation, the {what} fit infinite utilities best",
            do="regularisation = 0.1, or aggregator plackett-luce",
            **told,
        )
    warn(
        "ranking-one-sided",
        f"in the {what} some labels only win: how far they are ahead is what choix:{called} makes "
        f"of regularisation {regularisation:g}",
        do=f"compare with regularisation = {10 * regularisation:g}; plackett-luce has a prior that "
        "counts like votes",
        stacklevel=4,
        **told,
    )


def _failure(
    failed: list[tuple[int, Exception]], rows: Rows, called: str, iterations: int | None
) -> InputError:
    shown = _named(rows, [at for at, _ in failed])
    more = "" if iterations is None else f"iterations = {10 * iterations}, "
    return InputError(
        "not-converged",
        f"choix:{called} finds no utilities for {several(len(shown), 'example')} ({listed(shown)})",
        expected="an estimate that settles",
        got=f'"{" ".join(str(failed[0][1]).split())}"',
        do=f"{more}a larger regularisation, or aggregator plackett-luce",
        whose=f"aggregator choix:{called}",
        details={"examples": shown},
    )


def _named(rows: Rows, places: list[int]) -> list[str]:
    return [str(name) for name in rows.table.indexes[names.EXAMPLE][places]]


_ITERATIVE_SPECTRAL = "i-lsr"


@attrs.frozen(kw_only=True)
class IterativeSpectral:
    """Plausibility of a label = its utility, found as where a walk between labels settles.

    A walk goes from l to k at the rate ``regularisation + n_kl / (u_k + u_l)``, n_kl being how
    often k was above l; its stationary distribution is the next u. Without regularisation it
    settles at the maximum of the Bradley-Terry likelihood, as `choix:mm` does, mostly in far fewer
    steps.
    Comparisons are counted beforehand: thousands of responses take no longer than ten, and they may
    count a broken number of times.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Rate at which the walk goes anywhere. With 0, examples are refused in which some labels only
        win.
    tolerance : float
        It has converged where log utilities change by no more, added up.
    iterations : int
        The most steps; examples that need more are refused.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))
    iterations: int = attrs.field(default=1000, validator=attrs.validators.ge(1))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        estimate = partial(
            choix(_ITERATIVE_SPECTRAL).ilsr_pairwise_dense,
            alpha=self.regularisation,
            max_iter=self.iterations,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_ITERATIVE_SPECTRAL,
            form="matrix",
            regularisation=self.regularisation,
            iterations=self.iterations,
        )


_MM = "mm"


@attrs.frozen(kw_only=True)
class MinorizationMaximization:
    """Plausibility of a label = its utility, fitted to the comparisons of two labels.

    Each example is a problem of its own. A ranking is read as comparisons: each label with each one
    of a lower block, and, where `unlisted` of the table is ``excluded``, with each one that it does
    not name and another response does. Where it is ``unknown``, labels that are not named are not
    compared. Labels of one block are not compared with each other. With k above l n_kl times,
    weighed by `response_weight`::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  +  regularisation sum_k (log u_k - u_k)
        lambda_k  =  u_k / sum_l u_l

    in steps ``u_k = (sum_l n_kl + r) / (sum_l (n_kl + n_lk) / (u_k + u_l) + r)``, r being the
    regularisation. Labels that no response names get nothing. A ranking of L labels counts as
    L (L - 1) / 2 comparisons, as if each had been asked for; `plackett-luce` takes it as one
    ranking, and knows ties.

    Where labels only win, utilities would be infinite: they then hang on `regularisation`, and a
    warning names the examples.

    Attributes
    ----------
    regularisation : float
        Wins, so to speak, that each label has beforehand, and pull to the mean. With 0 it is
        maximum likelihood, and examples where that is infinite are refused.
    tolerance : float
        It has converged where log utilities change by no more, added up.
    iterations : int
        The most steps; examples that need more are refused.

    References
    ----------
    Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004),
    384-406. Caron & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS
    21 (2012).
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))
    iterations: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        estimate = partial(
            choix(_MM).mm_pairwise,
            alpha=self.regularisation,
            max_iter=self.iterations,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_MM,
            form="list",
            regularisation=self.regularisation,
            iterations=self.iterations,
        )


_OPTIMISED = "opt"


@attrs.frozen(kw_only=True)
class Optimised:
    """Plausibility of a label = its utility, fitted with a Gaussian prior of log utilities.

    With k above l n_kl times::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  -  regularisation sum_k (log u_k)^2
        lambda_k  =  u_k / sum_l u_l

    so that the prior has the variance ``1 / (2 regularisation)``.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Of the prior. With 0 it is maximum likelihood, and examples where that is infinite are
        refused.
    tolerance : float
        Relative error of the log utilities.

    References
    ----------
    Bradley & Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952), 324-345.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        estimate = partial(
            choix(_OPTIMISED).opt_pairwise,
            alpha=self.regularisation,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_OPTIMISED,
            form="list",
            regularisation=self.regularisation,
        )


_RANK_CENTRALITY = "rank-centrality"


@attrs.frozen(kw_only=True)
class RankCentrality:
    """Plausibility of a label = where a walk settles that goes from losers to winners.

    The walk goes from l to k at the rate ``(n_kl + r) / (n_kl + n_lk + 2 r)``, n_kl being how often
    k was above l, and r the regularisation: shares of wins count, however often labels met. Between
    labels that never met, the rate is 1/2 both ways for any r above 0, and 0 for r = 0.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        With 0, examples are refused in which some labels only win.

    References
    ----------
    Negahban, Oh & Shah, Iterative ranking from pair-wise comparisons, NeurIPS 2012.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        estimate = partial(
            choix(_RANK_CENTRALITY).rank_centrality,
            alpha=self.regularisation,
        )
        return aggregated(
            annotations,
            estimate,
            called=_RANK_CENTRALITY,
            form="list",
            regularisation=self.regularisation,
        )


_SPECTRAL = "lsr"


@attrs.frozen(kw_only=True)
class Spectral:
    """Plausibility of a label = where a walk between labels settles that follows who wins.

    The walk goes from l to k at the rate ``regularisation + n_kl / 2``, n_kl being how often k
    was above l. It is the first step of `choix:i-lsr`: consistent, and not the maximum of a
    likelihood. Nothing has to converge.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Rate at which the walk goes anywhere. With 0, examples are refused in which some labels only
        win.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        estimate = partial(
            choix(_SPECTRAL).lsr_pairwise_dense,
            alpha=self.regularisation,
        )
        return aggregated(
            annotations,
            estimate,
            called=_SPECTRAL,
            form="matrix",
            regularisation=self.regularisation,
        )

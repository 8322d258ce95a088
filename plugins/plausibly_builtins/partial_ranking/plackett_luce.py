"""Plackett-Luce: plausibilities are utilities under which the rankings are likely."""

from __future__ import annotations

import json
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Keys, counted, listed, several, warn
from plausibly_builtins.partial_ranking._newton import Fit, fit
from plausibly_builtins.partial_ranking._stages import UNMENTIONED, Said, Unmentioned

CONVERGENCE = "convergence"


@attrs.frozen(kw_only=True)
class PlackettLuce:
    """Plausibility of a label = its chance of being ranked first, fitted to the rankings.

    Each example is a small problem of its own. A ranking is made from the top: the next label is k
    with chance ``lambda_k`` over the sum of what is left. The plausibilities are those at which
    rankings and prior together are most likely::

        maximise  sum_b w_b log P(b | lambda)  +  prior sum_k log lambda_k,   sum_k lambda_k = 1
        P(b | lambda) = prod over blocks B of b:
                        sum over orders s of B: prod_t lambda_{s_t} / (lambda_{s_t} + ... + T_B)

    w_b is the `response_weight`, T_B the utility of all labels below the block: of those that the
    ranking names later, and, where `unlisted` of the table is ``excluded``, of those that it does
    not name. Where it is ``unknown``, a ranking says nothing of labels that it does not name. A tie
    means that the order inside the block is not known: all orders are summed. A last block with
    nothing below it says nothing.

    The prior is a gamma distribution of shape `prior` of every utility; this is the mode of log
    utilities, the same whatever its rate. Of single labels it is ``(v_k + prior) / (v + K prior)``
    with v_k of v votes and K labels in the model; of one ranking a > b it is
    ``(1 + prior) / (1 + 2 prior)`` for a.

    Attributes
    ----------
    prior : float
        Shape of the gamma prior: votes, so to speak, that each label in the model has before
        anybody ranks. With 0 it is maximum likelihood, and examples where that is infinite are
        refused: those with a group of labels that no label outside it ever beats.
    unmentioned : {"nothing", "together", "each"}
        Labels that no response of the example names get nothing, and are not in the model
        (default); or are in the model as one label, whose plausibility they share equally; or each
        as a label with a prior of its own. Then the more labels are declared, the more plausibility
        goes to those that nobody thought of: with `prior` 0.5 and 400 labels most of it.
    tolerance : float
        It has converged where a full step changes no plausibility by more.
    iterations : int
        The most steps; it warns where that is too few.

    References
    ----------
    Plackett, The analysis of permutations, Applied Statistics 24 (1975), 193-202. Hunter, MM
    algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004), 384-406. Caron
    & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS 21 (2012).
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    prior: float = attrs.field(default=0.5, validator=attrs.validators.ge(0.0))
    unmentioned: Unmentioned = attrs.field(default="nothing", validator=UNMENTIONED)
    tolerance: float = attrs.field(default=1e-10, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label).

        Parameters
        ----------
        annotations : Dataset
            A table of partial rankings or single labels.
        keys : Keys
            Not used: nothing is drawn.

        Returns
        -------
        DataArray, (example, label)
            The attribute ``convergence`` says, as JSON, how many steps the slowest example took,
            the largest change in a last step, and the log-likelihood plus log-prior of all.

        Raises
        ------
        InputError
            ``example-unanswered`` where nobody ranked a label, ``ranking-one-sided``.
        """
        said = Said.of(annotations, self.accepts, self.unmentioned)
        if self.prior == 0:
            said.check_two_sided()
        found = fit(said, self.prior, tolerance=self.tolerance, iterations=self.iterations)
        self._tell(said, found)
        facts = {
            "iterations": int(found.steps.max(initial=0)),
            "change": float(found.change.max(initial=0.0)),
            "tolerance": self.tolerance,
            "objective": float(np.sort(found.objective).sum()),
        }
        values = said.spread([np.exp(log) for log in found.log_share])
        return said.rows.plausibilities(values).assign_attrs({CONVERGENCE: json.dumps(facts)})

    def _tell(self, said: Said, found: Fit) -> None:
        late = np.flatnonzero(found.change > self.tolerance)
        if not late.size:
            return
        shown, change = said.named(late), float(found.change.max())
        warn(
            "not-converged",
            f"plackett-luce has not converged for {several(late.size, 'example')} "
            f"({listed(shown)}): in step {counted(self.iterations)} a plausibility still changes "
            f"by {change:.2g}",
            expected=f"changes of {self.tolerance:g} or less",
            do=f"iterations = {self.iterations * 10}, or a larger tolerance, such as {change:.0e}",
            whose="aggregator plackett-luce",
            details={"examples": shown, "change": change},
            stacklevel=3,
        )

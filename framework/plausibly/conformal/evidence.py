"""What a calibrator answers, and what a combiner needs to know to state a guarantee."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import attrs
import numpy as np

from plausibly.arrays import Floats, Ints
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import NEW_LABEL, Guarantee, Target

EXCHANGEABLE = "calibration and new examples are exchangeable"
UNSEEN = "the model saw none of them"


@attrs.frozen(kw_only=True, eq=False)
class Replicates:
    """Atoms: the scores, with masses, that a test score is compared with.

    Attributes
    ----------
    scores : ndarray, (replicate, atom)
        Scores of labels of the calibration examples.
    of_what : str
        The label that the sets will cover, in words.
    target : {"aggregated", "voted"}
        Whether that label is drawn from plausibilities, or voted.
    assumptions : tuple of str
        What the guarantee rests on.
    truth : {"drawn", "voted"}
        How a held-out example gets its one label.
    units : ndarray of int, (atom,), or None
        Mass of each atom in 1/`denominator` of its example; None where an atom is an example.
    row : ndarray of int, (atom,), or None
        Example of each atom; None where atom i is example i.
    denominator : ndarray of int, (example,), or None
        Units in the mass of one example; None where an atom is an example.
    separate : bool
        False where only the mean over replicates exists, as for expected draws.
    """

    scores: Floats
    of_what: str = NEW_LABEL
    target: Target = "aggregated"
    assumptions: tuple[str, ...] = (EXCHANGEABLE, UNSEEN)
    truth: Literal["drawn", "voted"] = "drawn"
    units: Ints | None = None
    row: Ints | None = None
    denominator: Ints | None = None
    separate: bool = True

    def __attrs_post_init__(self) -> None:
        atoms = self.scores.shape[-1]
        masses = (self.units, self.row, self.denominator)
        given = [part is not None for part in masses]
        problem = ""
        if self.scores.ndim != 2 or self.scores.shape[0] == 0:
            problem = f"scores of shape (replicate, atom), not {self.scores.shape}"
        elif any(given) and not all(given):
            problem = "units, row and denominator together, or none of them"
        elif np.isnan(self.scores).any():
            problem = "scores without NaN"
        elif self.units is not None and self.row is not None and self.denominator is not None:
            if self.units.shape != (atoms,) or self.row.shape != (atoms,):
                problem = f"units and row of shape ({atoms},)"
            elif self.separate:
                problem = "separate=False where atoms carry masses"
        if problem:
            raise IncompatibleComponents(
                "replicates-malformed",
                "a calibrator returned replicates that cannot be used",
                expected=problem,
                do="mend the calibrator's replicates()",
                whose="calibrator",
            )

    @property
    def examples(self) -> int:
        """Number of calibration examples behind the atoms."""
        return self.scores.shape[1] if self.denominator is None else len(self.denominator)


@attrs.frozen(kw_only=True)
class Evidence:
    """Facts about a calibration on which a guarantee depends.

    Attributes
    ----------
    n : int
        Calibration examples whose scores are compared with.
    m : int
        Replicates.
    n_held_out : int
        Examples set aside for the combiner.
    of_what, target, assumptions, separate
        As the calibrator stated them in `Replicates`.
    calibrator, combiner : str
        Names, for messages.
    allow_no_guarantee : bool
        Whether the user wants sets also where nothing is guaranteed.
    """

    n: int
    m: int
    n_held_out: int
    of_what: str
    target: Target
    assumptions: tuple[str, ...]
    separate: bool
    calibrator: str
    combiner: str
    allow_no_guarantee: bool = False

    def require_separate(self) -> None:
        """Raise `IncompatibleComponents` where the replicates have no p-values of their own."""
        if not self.separate:
            raise IncompatibleComponents(
                "pair-incompatible",
                f"combiner {self.combiner} does not go with calibrator {self.calibrator}",
                expected="one p-value a replicate",
                got="only their mean: no label is drawn",
                do="combiner average, or calibrator monte-carlo",
                whose=f"combiner {self.combiner}",
            )

    def no_guarantee(
        self,
        alpha: Fraction,
        reason: str,
        *,
        do: str = "combiner average (1 - alpha)",
        reference: str = "",
        notes: tuple[str, ...] = (),
    ) -> Guarantee:
        """Return that nothing is guaranteed, where the user allowed that; refuse the pair else.

        Parameters
        ----------
        alpha : Fraction
        reason : str
            What a guarantee would need, and why that is not so here.
        do : str
            What has a guarantee instead.
        reference : str
            Where the lack is shown.
        notes : tuple of str

        Returns
        -------
        Guarantee
            Without a level.

        Raises
        ------
        IncompatibleComponents
            ``guarantee-none``, unless `allow_no_guarantee`.
        """
        if not self.allow_no_guarantee:
            raise IncompatibleComponents(
                "guarantee-none",
                f"combiner {self.combiner} has no guarantee for our p-values",
                expected=reason,
                do=f"{do}, or allow_no_guarantee=True (--allow-no-guarantee)",
                whose=f"combiner {self.combiner}",
            )
        return Guarantee(
            alpha=alpha,
            level=None,
            target=self.target,
            of_what=self.of_what,
            over="nothing",
            assumptions=self.assumptions,
            why=f"a guarantee needs {reason}",
            reference=reference,
            has=self.n_held_out or self.n,
            notes=notes,
        )

    def promise_of_rank(
        self,
        alpha: Fraction,
        *,
        why: str,
        reference: str,
        factor: int = 1,
        held_out: bool = False,
        notes: tuple[str, ...] = (),
    ) -> Guarantee:
        """Return the guarantee 1 - alpha of a p-value whose least value is ``factor / (n + 1)``.

        Parameters
        ----------
        alpha : Fraction
        why, reference : str
        factor : int
            What the rule multiplies a p-value of this calibration by.
        held_out : bool
            Whether n counts the held-out examples.
        notes : tuple of str
        """
        count = self.n_held_out if held_out else self.n
        least = Fraction(factor, count + 1)
        return self.promise(
            alpha,
            1 - alpha / factor,
            why=why,
            reference=reference,
            needed=math.ceil(factor / alpha) - 1,
            least_alpha=float(least),
            held_out=held_out,
            vacuous=alpha < least,
            notes=notes,
        )

    def promise(
        self,
        alpha: Fraction,
        level: Fraction,
        *,
        why: str,
        reference: str,
        needed: int,
        least_alpha: float | None,
        held_out: bool = False,
        vacuous: bool,
        confidence: Fraction | None = None,
        notes: tuple[str, ...] = (),
    ) -> Guarantee:
        """Return the guarantee of the pair, of the label that the calibrator named.

        Parameters
        ----------
        alpha, level : Fraction
            Miscoverage rate asked for, and coverage promised.
        why, reference : str
            The argument, and where it is proved.
        needed : int
            Examples from which on the sets are not every label, at `alpha`.
        least_alpha : float
            Alpha from which on they are not, with the examples there are.
        held_out : bool
            Whether `needed` counts held-out examples.
        vacuous : bool
            Whether every set is every label.
        confidence : Fraction, optional
            Probability over the calibration with which the level holds.
        notes : tuple of str
            More to say.
        """
        drawn = self.m > 1 or self.n_held_out > 0
        over = (
            "calibration examples, draws and the new example together"
            if drawn
            else ("calibration examples and the new example together")
        )
        if confidence is not None:
            over = "new examples, for this one calibration"
        return Guarantee(
            alpha=alpha,
            level=level,
            target=self.target,
            of_what=self.of_what,
            over=f"{over}; not per example, label or group",
            assumptions=self.assumptions,
            why=why,
            reference=reference,
            confidence=confidence,
            vacuous=vacuous,
            has=self.n_held_out if held_out else self.n,
            needed=needed,
            counted="held-out examples" if held_out else "calibration examples",
            least_alpha=least_alpha,
            notes=notes,
        )

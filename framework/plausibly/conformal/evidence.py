"""What a combiner needs to know of a calibration to state a guarantee."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs

from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import Guarantee, Target

_NOT_AT_ALL = "not per example, label or group"
_NOT_PER = "for {}; not per example"


@attrs.frozen(kw_only=True)
class Evidence:
    """Facts about a calibration on which a guarantee depends.

    Attributes
    ----------
    n : int
        Calibration examples whose scores are compared with; of the largest cell, where p-values
        are kept apart.
    m : int
        Replicates.
    n_held_out : int
        Examples set aside for the combiner.
    of_what, target, event, share, assumptions, separate, counted, each, cluster, why, reference
    notes
        As the calibrator stated them in `Replicates`.
    examples : int or None
        Calibration examples in all, where `n` counts something else.
    shared_score : bool
        Whether all replicates compare the same test score.
    counting : bool
        Whether every atom is an example and weighs as much as any other.
    own : Fraction
        Mass of the new example in a numerator, in masses of one example: the largest risk.
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
    event: str = ""
    counted: str = "calibration examples"
    each: str = ""
    cluster: str = ""
    why: str = ""
    reference: str = ""
    notes: tuple[str, ...] = ()
    examples: int | None = None
    shared_score: bool = True
    counting: bool = True
    own: Fraction = Fraction(1)
    share: Fraction | None = None

    def require_counting(self) -> None:
        """Raise `IncompatibleComponents` where atoms have masses or weights of their own."""
        if not self.counting:
            raise IncompatibleComponents(
                "pair-incompatible",
                f"combiner {self.combiner} does not go with calibrator {self.calibrator}",
                expected="atoms that all weigh the same",
                got="masses or weights that differ",
                do="combiner average, or calibrator monte-carlo",
                whose=f"combiner {self.combiner}",
            )

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
        mass = factor if held_out else factor * self.own
        least = Fraction(mass) / (count + 1)
        return self.promise(
            alpha,
            1 - alpha / factor,
            why=why,
            reference=reference,
            needed=max(1, math.ceil(mass / alpha) - 1),
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
        drawn = (self.m > 1 and self.shared_score) or self.n_held_out > 0
        over = f"{self.counted}{', draws' if drawn else ''} and the new example together"
        if confidence is not None:
            over = "new examples, for this one calibration"
        return Guarantee(
            alpha=alpha,
            level=level,
            target=self.target,
            of_what=self.of_what,
            over=f"{over}; {_NOT_PER.format(self.each) if self.each else _NOT_AT_ALL}",
            assumptions=self.assumptions,
            why="; ".join(part for part in (self.why, why) if part),
            reference="; ".join(part for part in (self.reference, reference) if part),
            confidence=confidence,
            vacuous=vacuous,
            has=self.n_held_out if held_out else self.n,
            needed=needed,
            counted="held-out examples" if held_out else self.counted,
            least_alpha=least_alpha,
            notes=(*self.notes, *notes),
            event=self.event,
            share=self.share,
            each=self.each,
        )

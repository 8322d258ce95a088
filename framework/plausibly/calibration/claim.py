"""Claims of a calibration: what a combiner needs to state a guarantee, and when it is vacuous."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs

from plausibly.calibration.alphas import rounded_up
from plausibly.calibration.scores import BY_LABEL, DRAWN_LABELS, INDEPENDENT, CalibrationScores
from plausibly.errors import IncompatibleComponents, counted, listed, warn
from plausibly.guarantee import Guarantee, Target

_STRONGER = ("are exchangeable", "are independent draws of one distribution")
_NOT_AT_ALL = "not per example, label or group"
_NOT_PER = "for {}; not per example"


@attrs.frozen(kw_only=True)
class Evidence:
    """Facts about a calibration on which a guarantee depends.

    Attributes
    ----------
    n : int
        Calibration examples whose scores are compared with; of the largest group, where p-values
        are kept apart.
    m : int
        CalibrationScores.
    n_held_out : int
        Examples set aside for the combiner.
    of_what, target, event, share, assumptions, separate, counted, each, cluster, why, reference,
    notes
        As the calibrator stated them in `CalibrationScores`; by what held-out examples were taken.
    examples : int or None
        Calibration examples in all, where `n` counts something else.
    shared_score : bool
        Whether all replicates compare the same test score.
    counting : bool
        Whether every atom is an example and weighs as much as any other.
    test_mass : Fraction
        Mass of the new example in a numerator, in masses of one example: the largest risk.
    random : tuple of str or None
        What is random beside the examples, such as drawn labels; None where it is not known, as in
        files of before: draws then, where there are several replicates.
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
    test_mass: Fraction = Fraction(1)
    share: Fraction | None = None
    random: tuple[str, ...] | None = None

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
        random: tuple[str, ...] = (),
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
        random : tuple of str
            See `promise`.
        notes : tuple of str
        """
        count = self.n_held_out if held_out else self.n
        mass = factor if held_out else factor * self.test_mass
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
            random=random,
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
        independent: bool = False,
        random: tuple[str, ...] = (),
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
        independent : bool
            Whether the argument needs independent examples, more than exchangeable ones.
        random : tuple of str
            What the combiner draws, beside what is random already.
        notes : tuple of str
            More to say.
        """
        known = self.random
        if known is None:
            several = (self.m > 1 and self.shared_score) or self.n_held_out > 0
            known = (DRAWN_LABELS,) if several else ()
        over = f"{', '.join((self.counted, *known, *random))} and the new example together"
        if confidence is not None:
            own = [one for one in known if one != DRAWN_LABELS]
            over = f"{' and '.join(('new examples', *own))}, for this one calibration"
        held = f'held-out values of "{self.cluster}"' if self.cluster else "held-out examples"
        assumptions = self.assumptions
        if independent:
            exact = tuple(one.replace(*_STRONGER) for one in assumptions)
            assumptions = exact if exact != assumptions else (INDEPENDENT, *assumptions)
        return Guarantee(
            alpha=alpha,
            level=level,
            target=self.target,
            of_what=self.of_what,
            over=f"{over}; {_NOT_PER.format(self.each) if self.each else _NOT_AT_ALL}",
            assumptions=assumptions,
            why="; ".join(part for part in (self.why, why) if part),
            reference="; ".join(part for part in (self.reference, reference) if part),
            confidence=confidence,
            vacuous=vacuous,
            has=self.n_held_out if held_out else self.n,
            needed=needed,
            counted=held if held_out else self.counted,
            least_alpha=least_alpha,
            notes=(*self.notes, *notes),
            event=self.event,
            share=self.share,
            each=self.each,
            cluster=self.cluster,
        )


def warn_if_vacuous(promise: Guarantee, combiner: str) -> None:
    """Warn where every set is every label."""
    if not promise.vacuous:
        return
    alpha = f"{float(promise.alpha):g}"
    enough = promise.needed is None or promise.has >= promise.needed
    if enough:
        held_out = promise.counted.startswith("held-out")
        warn(
            "sets-vacuous",
            f"every set is every label at alpha {alpha}",
            expected="fewer p-values at their least value"
            if held_out
            else "scores that tell labels apart",
            got=f"too many of {counted(promise.has)} {promise.counted} there",
            do=f"combiner average (no split), more {promise.counted}, or a larger alpha"
            if held_out
            else "a larger alpha, or another score",
            whose="predictor",
            stacklevel=4,
        )
        return
    needed = promise.needed or 0
    least = promise.least_alpha
    works = "" if least is None or least >= 1 else rounded_up(least)
    if not promise.counted.startswith("held-out"):
        more = f"{counted(needed - promise.has)} more"
        warn(
            "n-too-small",
            f"every set is every label at alpha {alpha}",
            expected=f"{counted(needed)} {promise.counted} or more",
            got=counted(promise.has),
            do=f"alpha {works} works with {counted(promise.has)}; or annotate {more}"
            if works
            else f"annotate {more}",
            whose="predictor",
            stacklevel=4,
        )
        return
    warn(
        "guarantee-vacuous",
        f"{combiner} gives every label at alpha {alpha}",
        expected=f"{counted(needed)} {promise.counted} or more",
        got=counted(promise.has),
        do=f"combiner average (no split), or alpha {works}"
        if works
        else "combiner average (no split), or hold more examples out",
        whose=f"combiner {combiner}",
        stacklevel=4,
    )


def warn_of_small_groups(
    promise: Guarantee, calibration: CalibrationScores, small: Sequence[int]
) -> None:
    """Warn of groups or labels that get every label, with what they have and would need."""
    if not small:
        return
    of_labels = calibration.by == BY_LABEL
    what = "labels" if of_labels else f'groups of "{calibration.by}"'
    weighed = [(group_mass(calibration, code), calibration.groups[code]) for code in small]
    got = listed(f"{name} {mass:.4g}" for mass, name in sorted(weighed))
    needed = "more" if promise.needed is None else counted(promise.needed)
    unit = "plausibility mass" if of_labels else promise.counted
    alpha = f"{float(promise.alpha):g}"
    verb = "get" if len(small) > 1 else "gets"
    warn(
        "group-too-small",
        f"{len(small)} of {len(calibration.groups)} {what} {verb} every label at alpha {alpha}"
        if not of_labels
        else f"{len(small)} of {len(calibration.groups)} labels "
        f"{'are' if len(small) > 1 else 'is'} in every set at alpha {alpha}",
        expected=f"{unit} of {needed} or more for a label"
        if of_labels
        else f"{needed} {unit} or more in a group",
        got=got,
        do="annotate more of them, or a larger alpha"
        if of_labels
        else f'merge them in the column "{calibration.by}", annotate more, or a larger alpha',
        whose="predictor",
        details={"groups": [name for _, name in sorted(weighed)]},
        stacklevel=4,
    )


def group_mass(calibration: CalibrationScores, code: int) -> float:
    """Return what a group weighs: examples in a group, plausibility mass of a label."""
    part = calibration.of_group(code)
    if not calibration.of_atoms:
        return float(part.examples)
    units, denominator = part.masses()
    return float((units / denominator[part.rows()]).sum()) if len(units) else 0.0


def warn_of_unseen(
    examples: Sequence[str], groups: Sequence[str], by: str, *, stacklevel: int = 4
) -> None:
    """Warn of new examples of groups that calibration lacks: they get every label."""
    warn(
        "group-unseen",
        f"{counted(len(examples))} examples are of groups that calibration lacks"
        if len(examples) > 1
        else "1 example is of a group that calibration lacks",
        expected=f'values of "{by}" that calibration has; these get every label',
        got=listed(groups),
        do=f'calibrate with such examples, or merge groups in the column "{by}"',
        whose="predictions",
        details={"examples": list(examples)},
        stacklevel=stacklevel,
    )


def warn_of_heavy(count: int, total: int, calibration: CalibrationScores, alpha: float) -> None:
    """Warn of new examples that weigh too much for anything but every label."""
    largest = "1" if calibration.test_mass == 1 else "largest risk"
    those = "all calibration weights"
    if calibration.by:
        those = f'the calibration weights of its "{calibration.by}"'
    limit = f"alpha / ({largest} - alpha) of {those} together"
    warn(
        "weight-too-large",
        f"{counted(count)} of {counted(total)} examples {'get' if count > 1 else 'gets'} every "
        f"label at alpha {alpha:g}",
        expected=f'weights in "{calibration.weight_by}" below {limit}',
        got="more: calibration has too few examples like these",
        do="more calibration examples like them, a larger alpha, or clip the weights",
        whose="predictions",
        stacklevel=4,
    )

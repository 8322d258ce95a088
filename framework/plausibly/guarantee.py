"""Claims of calibrators about prediction sets, and guarantees at one alpha."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import attrs

from plausibly import text

if TYPE_CHECKING:
    from cattrs import Converter

Target = Literal["aggregated", "majority-vote", "mass", "risk"]

Needs = Literal["mean", "each", "smoothed", "losses"]
"""Input of a combiner: the mean p-value, each replicate's, the mean with ties split, or the missed
mass of each example, from which the combiner returns the threshold itself."""

NEW_LABEL = (
    "Y, a label drawn from the plausibilities of a new example: the answer of an annotator like "
    "those of the calibration set"
)
NOT_CLAIMED = "that the true label is covered; anything about other populations"
EXAMPLES = "calibration examples"
UNSEEN = "the model was trained on none of them"
DRAWN_LABELS = "drawn labels"
UNIFORMS = "the uniforms of the score"
NO_GUARANTEE = "a guarantee needs "
BY_LABEL = "label"
"""`Claim.by` where it holds of each label."""
_RATIO = re.compile(r"-?[0-9]{1,999}(/[1-9][0-9]{0,999})?")
_WIDTH = 79
_DIGITS, _TYPED = 4, 12


def rounded(value: Fraction | float) -> str:
    """Return a share with two to four decimals."""
    whole, _, decimals = f"{float(value):.4f}".rstrip("0").partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def bounded(value: Fraction | float, *, up: bool = False, typed: bool = True) -> str:
    """Return a bound as text that never says more than the number does.

    Parameters
    ----------
    value : Fraction or float
        From 0 to 1. With four decimals, or so many that two digits say how near it is to 0 or 1.
    up : bool
        Whether an upper bound, as of a risk, is rounded up instead of down.
    typed : bool
        Whether a decimal of up to twelve digits was typed, and is printed as it is.
    """
    exact = value if isinstance(value, Fraction) else Fraction(str(value))
    far = min(exact, 1 - exact)
    places = _TYPED if typed and not exact * 10**_TYPED % 1 else _DIGITS
    while exact * 10**places % 1 and far * 10**places < 10:
        places += 1
    units = (math.ceil if up else math.floor)(exact * 10**places)
    decimals = f"{units % 10**places:0{places}d}".rstrip("0").ljust(2, "0")
    return f"{units // 10**places}.{decimals}"


@attrs.frozen(kw_only=True)
class Exchangeable:
    """Assumption that calibration and new units are exchangeable.

    Attributes
    ----------
    unit : str
        Coordinate of which each value, such as a patient, is one unit; empty: each example is one.
    weights : str
        Coordinate that says how much more often new examples are like each; empty: no shift.
    augmentations, with_plausibilities : bool
        Whether each example comes with all its augmentations, and with its plausibilities.
    independent : bool
        Whether the units are independent draws of one distribution, which is more.
    """

    unit: str = ""
    weights: str = ""
    augmentations: bool = False
    with_plausibilities: bool = False
    independent: bool = False


@attrs.frozen(kw_only=True)
class Claim:
    """Claim of a calibrator about prediction sets, for any alpha.

    Attributes
    ----------
    covers : str
        What is covered, in words.
    target : {"aggregated", "majority-vote", "mass", "risk"}
        Labels drawn from the plausibilities, the majority vote, the share of the plausibilities in
        a set, or a risk on average.
    event : str
        For the targets "mass" and "risk": what is probable, or what is small on average.
    share : Fraction or None
        For the target "mass": the share of the plausibilities that a set is to hold.
    by : str
        Coordinate, or ``"label"``, for each value of which the claim holds; empty: overall only.
    unit : str
        What calibration counts, such as examples.
    assumption : Exchangeable or None
        How calibration and new examples relate; None where `conditions` say all of it.
    conditions, random : tuple of str
        What else the claim rests on, and what is random beside the examples, as drawn labels.
    reason, reference : str
        The argument where it is another than that of exchangeable examples, and its proof.
    notes : tuple of str
    """

    covers: str = NEW_LABEL
    target: Target = "aggregated"
    event: str = ""
    share: Fraction | None = None
    by: str = ""
    unit: str = EXAMPLES
    assumption: Exchangeable | None = Exchangeable()
    conditions: tuple[str, ...] = (UNSEEN,)
    random: tuple[str, ...] = ()
    reason: str = ""
    reference: str = ""
    notes: tuple[str, ...] = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """All that the claim rests on, in words."""
        how = self.assumption
        stated: tuple[str, ...] = ()
        if how is not None and how.weights:
            stated = (
                "calibration examples are independent draws of one distribution, and new ones, of "
                "another, are independent of them",
                "the answers to an example are distributed alike in both",
                "examples that calibration cannot have are not among the new ones",
                f'"{how.weights}" says how much more often new examples are like each, up to a '
                "factor, and is known or estimated on other data",
            )
        elif how is not None:
            units = f'values of "{how.unit}", each with its examples,' if how.unit else "examples"
            drawn = "independent draws of one distribution" if how.independent else "exchangeable"
            more = ", each with all its augmentations" if how.augmentations else ""
            more += ", with their plausibilities" if how.with_plausibilities else ""
            stated = (f"calibration and new {units} are {drawn}{more}",)
        if stated and self.by not in ("", BY_LABEL):
            more = "; all of this" if len(stated) > 1 else ""
            stated = (f'{"; ".join(stated)}{more} within each value of "{self.by}"',)
        return (*stated, *self.conditions)

    @property
    def cluster(self) -> str:
        """Coordinate, such as the patient, of which a new value brings the new example.

        What is claimed is then the mean over its values of the means within them.
        """
        return "" if self.assumption is None else self.assumption.unit

    @property
    def weights(self) -> str:
        """Coordinate with the weights of the examples, for covariate shift."""
        return "" if self.assumption is None else self.assumption.weights

    @property
    def per(self) -> str:
        """Each of what the claim holds, such as ``'each value of "site"'``; empty: overall only."""
        if self.by == BY_LABEL:
            voted = self.target == "majority-vote"
            where = "majority vote" if voted else "answer of an annotator"
            return f"each label, where it is the {where}"
        return f'each value of "{self.by}"' if self.by else ""

    def of_new(self, unit: str) -> Claim:
        """Return the claim for a random example of a new value of a coordinate."""
        assumption = self.assumption and attrs.evolve(self.assumption, unit=unit)
        covers = f'{self.covers}; the example is a random one of a new "{unit}"'
        return attrs.evolve(self, covers=covers, assumption=assumption)

    def within(self, by: str) -> Claim:
        """Return the claim for each value of a coordinate of the examples."""
        within = f'within each value of "{by}"'
        conditions = tuple(c if c == UNSEEN else f"{c}, {within}" for c in self.conditions)
        # A cluster, such as a patient, may have examples in several groups.
        covers = f'{self.covers}, among those of one "{by}"' if self.cluster else self.covers
        return attrs.evolve(self, covers=covers, by=by, conditions=conditions)


@attrs.frozen(kw_only=True)
class Guarantee(Claim):
    """A claim at one alpha, complete enough to be read on its own.

    `unit` says what `has` and `needed` count.

    Attributes
    ----------
    alpha : Fraction
        The miscoverage rate, exactly as typed.
    level : Fraction or None
        Lower bound of the coverage; None where nothing is guaranteed. Of a risk, 1 minus its bound.
    on_average : str
        What the probability is taken over.
    confidence : Fraction or None
        Probability over the calibration, for guarantees about this one calibration.
    vacuous : bool
        True where every set contains all labels.
    has, needed : int
        Number of calibration or held-out examples, and the minimum with which sets leave out labels
        at `alpha` unless too many of them have the lowest rank.
    least_alpha : float or None
        Smallest alpha at which sets leave out labels with `has` examples.
    groups : tuple of (str, float)
        The values of `by`, and by how many calibration examples (a label: by which mass).
    """

    alpha: Fraction
    level: Fraction | None
    on_average: str = "over calibration set and new example"
    confidence: Fraction | None = None
    vacuous: bool = False
    has: int = 0
    needed: int | None = None
    least_alpha: float | None = None
    groups: tuple[tuple[str, float], ...] = ()

    @property
    def not_claimed(self) -> str:
        """What the guarantee does not say; empty where there is none."""
        if self.level is None:
            return ""
        answers = "that an annotator's answer is covered; "
        return {"majority-vote": answers, "risk": "coverage; "}.get(self.target, "") + NOT_CLAIMED

    def statement(self) -> str:
        """Return the guarantee as one formula."""
        if self.level is None:
            return "no guarantee"
        if self.target == "risk":
            text = f"E[{self.event}] <= {self.bound()}"
        else:
            symbol = "vote" if self.target == "majority-vote" else "Y"
            text = f"P({self.event or f'{symbol} in C(X)'}) >= {self.bound()}"
        if self.per:
            text += f", for {self.per}"
        if self.confidence is not None:
            sure = bounded(self.confidence)
            text += f", with probability {sure} over the calibration"
        return f"{text} (vacuous: every set contains all labels)" if self.vacuous else text

    def bound(self) -> str:
        """Return the level, or the bound of the risk, as text that guarantees no more than it."""
        level, risk = self.level or Fraction(0), self.target == "risk"
        return bounded(1 - level if risk else level, up=risk, typed=level == 1 - self.alpha)

    def shown_level(self) -> str:
        """Return the level as text, for any kind of covered label."""
        if self.level is None:
            return "no guarantee"
        forms = {"risk": "risk {}", "mass": "{} of sets"}
        shown = forms.get(self.target, "{}").format(self.bound())
        return f"{shown}, vacuous" if self.vacuous else shown

    def short(self) -> str:
        """Return what is guaranteed about annotators' answers, as tables print it."""
        return "nothing" if self.target == "majority-vote" else self.shown_level()

    def rows(self) -> list[tuple[str, str]]:
        """Return title and text of each part, in reading order."""
        reason = f"{self.reason} ({self.reference})" if self.reference else self.reason
        notes = [("note", note) for note in self.notes]
        if self.level is None:
            return [("reason", reason), *notes]
        parts = [
            ("covers", self.covers),
            ("on average", self.on_average),
            ("assumes", "; ".join(self.assumes)),
            ("reason", reason),
        ]
        if self.vacuous and self.needed is not None:
            more = f"at least {self.needed:,} {self.unit} are needed; there are {self.has:,}"
            if self.has >= self.needed:
                more = f"too many of the {self.has:,} {self.unit} have the lowest rank"
            parts.append(("vacuous", f"every set contains all labels; {more}"))
        return [*parts, *notes, ("not claimed", self.not_claimed)]

    def __str__(self) -> str:
        lines = [self.statement()]
        for title, words in self.rows():
            line = f"  {title:<13}{words}".replace("\n", " ")
            lines += text.wrapped(line, _WIDTH, indent=15)
        return "\n".join(lines)

    # Any: the printer of IPython, which shows this in cells and consoles
    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return text.framed(self.statement(), text.table(self.rows(), titled=True))

    def to_json(self) -> dict[str, object]:
        """Return plain data; fractions become text, so that nothing is rounded."""
        data: dict[str, object] = converter().unstructure(self)
        for name in ("assumes", "not_claimed", "per", "cluster"):
            data[name] = getattr(self, name)
        return {**data, "statement": self.statement()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Guarantee:
        """Return the guarantee that `to_json` described."""
        return converter().structure(data, cls)


@attrs.frozen(kw_only=True)
class CalibrationSummary:
    """Numbers of a calibration on which a guarantee depends.

    Attributes
    ----------
    n, m, n_held_out : int
        Calibration units (of the largest group, where p-values are kept apart), replicates, and
        examples set aside for the combiner.
    test_mass : Fraction
        Mass of the new example in a numerator, in masses of one example: the largest risk.
    equal_masses : bool
        Whether every score is that of one example and weighs as much as any other.
    separate, shared_score : bool
        Whether each replicate has p-values of its own; whether all compare one test score.
    calibrator : str
        Its name, for messages.
    """

    n: int
    m: int = 1
    n_held_out: int = 0
    test_mass: Fraction = Fraction(1)
    equal_masses: bool = True
    separate: bool = True
    shared_score: bool = True
    calibrator: str = ""

    def no_guarantee(
        self,
        claim: Claim,
        alpha: Fraction,
        reason: str,
        *,
        reference: str = "",
        notes: tuple[str, ...] = (),
    ) -> Guarantee:
        """Return that nothing is guaranteed; `plausibly.calibrate` refuses unless that is allowed.

        Parameters
        ----------
        claim : Claim
        alpha : Fraction
        reason, reference : str
            What a guarantee would need, what is missing here, and where that is shown.
        notes : tuple of str
        """
        stated = attrs.evolve(
            claim,
            unit=EXAMPLES,
            reason=f"{NO_GUARANTEE}{reason}",
            reference=reference,
            notes=notes,
        )
        return Guarantee(
            **attrs.asdict(stated, recurse=False),
            alpha=alpha,
            level=None,
            on_average="",
            has=self.n_held_out or self.n,
        )

    def guarantee_of_rank(
        self,
        claim: Claim,
        alpha: Fraction,
        *,
        reason: str = "",
        reference: str = "",
        factor: int = 1,
        held_out: bool = False,
        random: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Guarantee:
        """Return the guarantee 1 - alpha of a p-value whose least value is ``factor / (n + 1)``.

        Parameters
        ----------
        claim : Claim
        alpha : Fraction
        reason, reference : str
        factor : int
            What the rule multiplies a p-value of this calibration by.
        held_out : bool
            Whether n counts the held-out examples.
        random, notes : tuple of str
            See `guarantee`.
        """
        count = self.n_held_out if held_out else self.n
        mass = factor if held_out else factor * self.test_mass
        least = Fraction(mass) / (count + 1)
        return self.guarantee(
            claim,
            alpha,
            1 - alpha / factor,
            reason=reason,
            reference=reference,
            needed=max(1, math.ceil(mass / alpha) - 1),
            least_alpha=float(least),
            held_out=held_out,
            vacuous=alpha < least,
            random=random,
            notes=notes,
        )

    def guarantee(
        self,
        claim: Claim,
        alpha: Fraction,
        level: Fraction,
        *,
        reason: str,
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
        """Return the claim at `alpha`, as a combiner guarantees it.

        Parameters
        ----------
        claim : Claim
        alpha, level : Fraction
            Miscoverage rate, and guaranteed coverage.
        reason, reference : str
            The argument, and where it is proved.
        needed, least_alpha, vacuous, confidence
            As in `Guarantee`; `needed` counts held-out examples with `held_out`.
        independent : bool
            Whether the argument needs independent examples, more than exchangeable ones.
        random, notes : tuple of str
            What the combiner draws, beside what is random already, and more to say.
        """
        over = f"over {', '.join(('calibration set', *claim.random, *random))} and new example"
        if confidence is not None:
            others = [name for name in claim.random if name != DRAWN_LABELS]
            over = f"over {' and '.join(('new examples', *others))}, for this calibration set"
        per = "not for each example, label or group"
        if claim.per:
            per = f"for {claim.per}; not for each example"
        assumption = claim.assumption
        if independent:
            assumption = attrs.evolve(assumption or Exchangeable(), independent=True)
        held = f'held-out values of "{claim.cluster}"' if claim.cluster else "held-out examples"
        stated = attrs.evolve(
            claim,
            assumption=assumption,
            unit=held if held_out else claim.unit,
            random=(*claim.random, *random),
            reason="; ".join(filter(None, (claim.reason, reason))),
            reference="; ".join(filter(None, (claim.reference, reference))),
            notes=(*claim.notes, *notes),
        )
        return Guarantee(
            **attrs.asdict(stated, recurse=False),
            alpha=alpha,
            level=level,
            on_average=f"{over}; {per}",
            confidence=confidence,
            vacuous=vacuous,
            has=self.n_held_out if held_out else self.n,
            needed=needed,
            least_alpha=least_alpha,
        )


def read_ratio(text: str) -> Fraction:
    """Return a ratio of whole numbers, or raise ValueError: an exponent could hang."""
    if not _RATIO.fullmatch(text):
        raise ValueError("no ratio of whole numbers")
    return Fraction(text)


@cache
def converter() -> Converter:
    """Return the converter by which guarantees and claims become plain data, without rounding."""
    # cattrs costs more to import than this module, which messages need.
    from cattrs import Converter

    converter = Converter()
    converter.register_structure_hook(Fraction, lambda text, _: read_ratio(text))
    converter.register_unstructure_hook(Fraction, str)
    return converter

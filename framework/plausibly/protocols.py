"""The six Protocols that components satisfy, and the typed keys under which they register.

Components are pure, frozen, keyword-only attrs classes whose fields are their parameters. Data
members of a Protocol are read-only: a `ClassVar`, a property, or a field that the user sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import attrs

from plausibly.guarantee import CalibrationSummary, Claim, Guarantee, Needs

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    import xarray as xr

    from plausibly.calibration.data import CalibrationData
    from plausibly.calibration.pvalues import Pools, PValues
    from plausibly.calibration.scores import CalibrationScores
    from plausibly.data.records import Record
    from plausibly.data.text_table import TextTable
    from plausibly.kernels.random import Keys
    from plausibly.kernels.types import Floats

P = TypeVar("P")
F = TypeVar("F", bound=Callable[..., object])

ScoreInput: TypeAlias = Literal["probability", "log-probability"]
"""What a score function reads: probabilities, or their logarithms."""


def optional(member: F) -> F:
    """Mark a member of a Protocol as one that has a default; authors inherit it, or leave it out.

    A component whose class does not inherit its Protocol has the default too: see
    `registry.conformance.complete`.
    """
    member.__optional__ = True  # type: ignore[attr-defined]  # as abstractmethod marks functions
    return member


class Annotation(Protocol):
    """A kind of answer, such as single labels or partial rankings.

    Inherit it to have the default of the optional member `example`.
    """

    @property
    def name(self) -> str:
        """Kind written into annotation tables, such as ``"single-label"``."""

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> xr.Dataset:
        """Return an annotation table from plain records; `labels` are the declared ones."""

    def validate(self, table: xr.Dataset) -> None:
        """Raise `InputError` naming example and annotator where the table breaks the kind."""

    @optional
    def example(self) -> tuple[Iterable[Record], Sequence[str]] | None:
        """Return records and their labels, on which the author's kit tries the kind."""
        return None


class Reader(Protocol):
    """A file syntax; its options are its fields. Inherit from it: two members are optional."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file, of which `head` are the first bytes, is of this syntax."""

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        """Return the annotation table in the file; `labels` are the declared ones."""

    @optional
    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> xr.Dataset:
        """Return the annotation table of columns of text, for readers that take data frames too."""
        raise _undefined(self, "from_table")

    @optional
    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return a model's predictions in the file, (example, label); None = the only model.

        For readers whose files hold predictions too.
        """
        raise _undefined(self, "predictions")


def _undefined(component: object, member: str) -> NotImplementedError:
    return NotImplementedError(f"{type(component).__name__} does not define {member}")


class Aggregator(Protocol):
    """Turns all responses of an example into plausibilities.

    Inherit it to have the defaults of the optional members: `joint`, `aggregate_sparse` and
    `reliability`.
    """

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of annotation that this aggregator reads."""

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities ([draw,] example, label); rows sum to 1."""

    @property
    @optional
    def joint(self) -> bool:
        """True if the plausibilities of an example depend on the other examples."""
        return False

    @optional
    def aggregate_sparse(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset | None:
        """Return in sparse form what `aggregate` returns, to the last bit; None = not made."""
        return None

    @optional
    def reliability(self, annotations: xr.Dataset) -> xr.Dataset | None:
        """Return `weight` (annotator), NaN without response; None = not estimated."""
        return None


class ScoreFunction(Protocol):
    """Conformity of labels with what the model said: larger = fits better.

    Inherit it to have the defaults of the optional members `identity` and `order`.
    """

    @property
    def randomised(self) -> bool:
        """True if `score` needs one uniform per example."""

    @property
    def reads(self) -> ScoreInput:
        """True if `score` wants probabilities or log-probabilities."""

    @property
    @optional
    def identity(self) -> bool:
        """True if scores are the numbers as they are read, which are then compared as they come."""
        return False

    @property
    @optional
    def order(self) -> str:
        """Coordinate with the order of the labels, "columns" for that of the predictions.

        Empty: `score` reads no order. Else it gets the last axis in this order, and every
        prediction set is an interval: p-values get their `hull`, which only adds labels.
        """
        return ""

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return scores (..., label) from the last axis; `uniform` is (..., 1) or None."""


class Calibrator(Protocol):
    """Says which scores a test score is compared with."""

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the atoms: scores with masses, in one or several replicates."""


class PValueCombiner(Protocol):
    """Merges the p-values of one test example and label into one.

    Inherit it to have the defaults of the optional members: `threshold` and `p_values_exist`.
    """

    @property
    def held_out(self) -> float:
        """Share of the calibration examples to set aside before calibration; 0.0 = none."""

    @property
    def needs(self) -> Needs:
        """Input: the mean p-value, each replicate's, smoothed ones, or the losses (`threshold`)."""

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return one p-value per test score, non-decreasing in each p-value of `p`."""

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return what sets at `alpha` guarantee, or raise `IncompatibleComponents`."""

    @optional
    def threshold(self, pools: Pools, alpha: Fraction) -> float:
        """Return the least score in sets at `alpha`: -inf for every label, inf for none.

        For combiners that need "losses": `pools.calibration` has the scores, the mass and example
        of each, and an order of the examples. Calibrators with several thresholds are refused.
        """
        raise _undefined(self, "threshold")

    @optional
    def p_values_exist(self, summary: CalibrationSummary) -> bool:
        """Return whether sets at all alphas are nested, so that `combine` has p-values."""
        return True


@attrs.frozen
class Kind(Generic[P]):
    """Typed key of one table of components: its name in the CLI and files, and its Protocol."""

    name: str
    protocol: type[Any]  # Any: a Protocol cannot be written as type[P]


ANNOTATION: Kind[Annotation] = Kind("annotation", Annotation)
READER: Kind[Reader] = Kind("reader", Reader)
AGGREGATOR: Kind[Aggregator] = Kind("aggregator", Aggregator)
SCORE: Kind[ScoreFunction] = Kind("score", ScoreFunction)
CALIBRATOR: Kind[Calibrator] = Kind("calibrator", Calibrator)
COMBINER: Kind[PValueCombiner] = Kind("combiner", PValueCombiner)

# Any: each kind has its own Protocol
KINDS: tuple[Kind[Any], ...] = (ANNOTATION, READER, AGGREGATOR, SCORE, CALIBRATOR, COMBINER)

KIND_BY_NAME = {kind.name: kind for kind in KINDS}

ComponentLike: TypeAlias = str | Mapping[str, object] | P
"""A name, a table ``{name, parameters...}``, or the object itself: one rule everywhere."""

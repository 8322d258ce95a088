"""Small components that keep every rule of the author's kit, and ways to change what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
import xarray as xr

from plausibly.errors import InputError
from plausibly.kernels.types import Floats
from plausibly.plugin import (
    ANNOTATION,
    Aggregator,
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    CalibrationData,
    CalibrationScores,
    CalibrationSummary,
    Claim,
    Guarantee,
    Keys,
    PValueCombiner,
    PValues,
    Reader,
    Record,
    Rows,
    ScoreFunction,
    answered_rows,
    check_responses,
    resolve,
    table_from_records,
)

Labels = Sequence[str] | None


# Any: classes are made from classes, and the kit is what looks at them.
def changed(base: type[Any], **members: object) -> Any:
    """Return an object of a class that differs from `base` in these members."""
    return type(base.__name__, (base,), {"__module__": base.__module__, **members})()


# Any: as above
def after(base: type[Any], method: str, change: Callable[..., Any]) -> Any:
    """Return an object whose method changes its result; `change` gets the arguments as well."""
    sound = getattr(base, method)

    @wraps(sound)
    def unsound(self: object, *arguments: object) -> object:
        return change(sound(self, *arguments), *arguments)

    return changed(base, **{method: unsound})


# Any: as above
def before(base: type[Any], method: str, change: Callable[..., Any]) -> Any:
    """Return an object whose method gets other arguments."""
    sound = getattr(base, method)

    @wraps(sound)
    def unsound(self: object, *arguments: object) -> object:
        return sound(self, *change(*arguments))

    return changed(base, **{method: unsound})


def _mentions(answer: object) -> Answer:
    if not isinstance(answer, str):
        raise AnswerRefused("answer-invalid", "gives no text", expected="a label", hint="fix it")
    return ((answer, 1, 1.0),)


@attrs.frozen(kw_only=True)
class Words(Annotation):
    """One word per response."""

    name: ClassVar[str] = "single-label"
    note: str = ""

    def build(self, records: Iterable[Record], labels: Labels) -> AnnotationTable:
        return table_from_records(self.name, records, labels, _mentions)

    def validate(self, table: xr.Dataset) -> None:
        check_responses(table, self.name, labels_once=True)


HEADER = "kit 1"
FILE = f"{HEADER}\ncase 2|r2|benign\ncase 2|r1|malignant\ncase 1|r1|unclear\ncase 1|r2|benign\n"


def _refusal(path: Path, why: str) -> InputError:
    return InputError("kit-file", f"{path.name}: {why}", expected="a kit file", source=path.name)


@attrs.frozen(kw_only=True)
class Bars(Reader):
    """A header, then one response per line: example, annotator, label."""

    bar: str = "|"

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.startswith(HEADER.encode())

    def read(self, path: Path, labels: Labels) -> xr.Dataset:
        header, *lines = self.text(path).splitlines() or [""]
        if header != HEADER:
            raise _refusal(path, "no header")
        rows = [self.row(path, line) for line in lines]
        if not rows:
            raise _refusal(path, "no rows")
        return resolve(ANNOTATION, "single-label").build(rows, labels)

    def text(self, path: Path) -> str:
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _refusal(path, "unreadable") from error

    def row(self, path: Path, line: str) -> tuple[object, object, object]:
        fields = line.split(self.bar)
        if len(fields) != 3:
            raise _refusal(path, f"{len(fields)} fields")
        return fields[0], fields[1], fields[2]


@attrs.frozen(kw_only=True)
class Shares(Aggregator):
    """Shares of the votes."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    power: float = 1.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = self.rows(annotations)
        votes = rows.by_label(self.weights(rows)[rows.response]) ** self.power
        return rows.plausibilities(votes / votes.sum(axis=1, keepdims=True))

    def rows(self, annotations: xr.Dataset) -> Rows:
        return answered_rows(annotations, self.accepts)

    def weights(self, rows: Rows) -> Floats:
        return rows.weight


@attrs.frozen(kw_only=True)
class Scaled(ScoreFunction):
    """The probability, scaled."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"
    scale: float = 2.0

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities * probabilities.dtype.type(self.scale)


@attrs.frozen(kw_only=True)
class Smoothed(ScoreFunction):
    """Minus the probability of the likelier labels, and a random share of the label's own."""

    randomised: ClassVar[bool] = True
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        if uniform is None:
            raise ValueError("a uniform per example")
        likelier = probabilities[..., None, :] > probabilities[..., :, None]
        before = (likelier * probabilities[..., None, :]).sum(axis=-1)
        scores: Floats = -(before + uniform * probabilities).astype(probabilities.dtype)
        return scores


@attrs.frozen(kw_only=True)
class Drawn:
    """Labels drawn from the plausibilities."""

    draws: int = 3

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return CalibrationScores(scores=data.scores_at(data.draw(self.draws, keys)))


@attrs.frozen(kw_only=True)
class Mean(PValueCombiner):
    """The mean of the p-values."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Literal["mean"]] = "mean"
    note: str = ""

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(claim, alpha, reason="risk control", reference="the docs")

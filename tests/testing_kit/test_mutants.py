"""Components that break one rule each: what the author's kit must catch, by that rule alone.

A rule that demands several things has several components: ``shape/no examples``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

from kit_components import (
    FILE,
    Bars,
    Drawn,
    Labels,
    Mean,
    Scaled,
    Shares,
    Words,
    after,
    before,
    changed,
)
from plausibly.calibration.examples import HashedNames
from plausibly.data.annotations import checksum, rebuilt
from plausibly.data.plausibilities import to_sparse
from plausibly.errors import InputError
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats
from plausibly.plugin import (
    CalibrationData,
    CalibrationScores,
    Claim,
    Guarantee,
    IncompatibleComponents,
    Keys,
    PValues,
    Record,
    Rows,
    answered_rows,
)
from plausibly.protocols import KINDS
from plausibly.testing import check, rules, rules_of
from plausibly.testing.data import UNNAMED
from plausibly.testing.rules import try_rule

Records = list[Record]
Mutants = dict[str, object]


# Any: classes are made from classes, and the kit is what looks at them.
def common(base: type[Any], method: str, note: Callable[[Any], Any]) -> Mutants:
    """Return mutants for the rules that all kinds share; `note` changes a result."""
    sound = getattr(base, method)

    def by_place(self: object, *arguments: object) -> object:
        return sound(self, *arguments)

    @wraps(sound)
    def with_hidden_state(self: object, *arguments: object) -> object:
        result = sound(self, *arguments)
        return note(result) if "hidden" in vars(self) else result

    def with_global_seed(*arguments: object) -> tuple[object, ...]:
        np.random.seed(0)  # noqa: NPY002  # the fault itself
        return arguments

    fitted = changed(base, **{method: with_hidden_state})
    object.__setattr__(fitted, "hidden", True)
    return {
        "protocol": changed(base, **{method: by_place}),
        "frozen": changed(base, __setattr__=object.__setattr__),
        "readable": changed(base, __repr__=object.__repr__),
        "configuration-round-trip": changed(base, __eq__=object.__eq__, __hash__=object.__hash__),
        "deterministic/state": fitted,
        "deterministic": before(base, method, with_global_seed),
    }


# ---- annotation kinds

builds = partial(after, Words, "build")


def reads_records(change: Callable[[Records, Labels], Records]) -> object:
    return before(Words, "build", lambda records, labels: (change([*records], labels), labels))


def with_ghost(table: xr.Dataset, *_: object) -> xr.Dataset:
    if table.sizes["example"] <= 2:
        return table
    return rebuilt(table.reindex(example=[*table.example.values, "ghost"]))


def declared_only(records: Records, labels: Labels) -> Records:
    return [r for r in records if labels is None or not isinstance(r[2], str) or r[2] in labels]


def first_decides(records: Records, labels: Labels) -> Records:
    if not records or records[0][0] != "A":
        return records
    (about, by, answer), *others = records
    named = [label for label in labels or () if label != answer]
    return [(about, by, named[0]), *others]


def last_wins(records: Records, labels: Labels) -> Records:
    known = {(e, a): (e, a, answer) for e, a, answer in records if a is not None}
    return [*known.values(), *(r for r in records if r[1] is None)]


def turned(records: object, labels: Labels) -> tuple[object, Labels]:
    if isinstance(records, list):
        records.reverse()
    return records, labels


def nothing_too(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
    records = list(records)
    if records:
        return Words.build(self, records, labels)
    table = Words.build(self, [("one", "r", labels[0] if labels else "a")], labels)
    return rebuilt(table.isel(dict.fromkeys(table.sizes.keys() - {"label"}, slice(0))))


def with_share(table: xr.Dataset, *_: object) -> xr.Dataset:
    size = table.sizes["response"]
    return rebuilt(table.assign(share=("response", np.full(size, 1 / size))))


def with_counts(table: xr.Dataset, *_: object) -> xr.Dataset:
    counts = np.bincount(table.mention_label.values, minlength=table.sizes["label"])
    return rebuilt(table.assign(counts=("label", counts)))


ANNOTATIONS: Mutants = {
    **common(Words, "build", lambda table: table.assign_attrs(note="fitted")),
    "builds": builds(with_ghost),
    "validates": changed(Words, validate=lambda self, table: None),
    "declared-labels": before(Words, "build", lambda r, labels: (r, labels and sorted(labels))),
    "undeclared-refused": reads_records(declared_only),
    "labels-seen": builds(lambda table, *_: table.assign_attrs(labels_declared=1)),
    "records-read": reads_records(first_decides),
    "records-read/once": before(
        Words, "build", lambda r, labels: (r if any(True for _ in r) else [], labels)
    ),
    "inputs-unchanged": before(Words, "build", turned),
    "names-as-written": reads_records(
        lambda records, _: [(str(e).lstrip("0"), a, w) for e, a, w in records]
    ),
    "unknown-annotators": reads_records(
        lambda records, _: [(e, "x" if a is None else a, w) for e, a, w in records]
    ),
    "answers-once": reads_records(last_wins),
    "unfit-refused": reads_records(lambda rs, _: [r for r in rs if isinstance(r[2], str)]),
    "unfit-refused/nothing": changed(Words, build=nothing_too),
    "parts": builds(with_share),
    "parts/joined": builds(with_counts),
    "netcdf-round-trip": builds(lambda table, *_: table.assign_attrs(extra={"a": 1})),
}


# ---- readers


def by_file(table: xr.Dataset, path: Path, labels: Labels) -> xr.Dataset:
    renamed = table.assign_coords(example=[f"{path.stem} {e}" for e in table.example.values])
    return renamed.assign_attrs(checksum=checksum(renamed))


def takes_any_label(self: Bars, path: Path, labels: Labels) -> xr.Dataset:
    try:
        return Bars.read(self, path, labels)
    except InputError as error:
        if error.name != "label-unknown":
            raise
        return Bars.read(self, path, None)


def fails_when_empty(self: Bars, path: Path) -> str:
    text = Bars.text(self, path)
    if not text:
        raise IndexError("list index out of range")
    return text


def opens_bare(self: Bars, path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(path)
    return Bars.text(self, path)


def decodes_bare(self: Bars, path: Path) -> str:
    return path.read_bytes().decode("utf-8") if path.exists() else Bars.text(self, path)


def splits_bare(self: Bars, path: Path, line: str) -> tuple[object, object, object]:
    example, annotator, label = line.split(self.bar)
    return example, annotator, label


READERS: Mutants = {
    **common(Bars, "read", lambda table: table.assign_attrs(note="fitted")),
    "recognises-its-own": after(
        Bars, "recognises", lambda its_own, path, _: its_own and path.name == "good.kit"
    ),
    "recognises-no-other": changed(Bars, recognises=lambda self, path, head: True),
    "recognises-its-own/number": after(Bars, "recognises", lambda its_own, *_: int(its_own)),
    "recognises-no-other/raises": changed(
        Bars, recognises=lambda self, path, head: head.decode("utf-8").startswith("kit")
    ),
    "reads": after(Bars, "read", lambda table, *_: table.assign_attrs(kind="unknown kind")),
    "copy-is-the-same": after(Bars, "read", by_file),
    "declared-labels": before(Bars, "read", lambda path, labels: (path, labels and sorted(labels))),
    "undeclared-refused": changed(Bars, read=takes_any_label),
    "nothing-refused": changed(Bars, text=fails_when_empty),
    "nothing-refused/missing": changed(Bars, text=opens_bare),
    "damaged-refused": changed(Bars, row=splits_bare),
    "damaged-refused/other bytes": changed(Bars, text=decodes_bare),
}


# ---- aggregators

aggregates = partial(after, Shares, "aggregate")


def negative(result: xr.DataArray, *_: object) -> xr.DataArray:
    if "naevus" not in result.label.values:
        return result
    names = result.label.values
    moved: xr.DataArray = result + 0.75 * ((names == "naevus") * 1.0 - (names == "melanoma"))
    return moved


def first_example(result: xr.DataArray, *_: object) -> xr.DataArray:
    values = result.values.copy()
    values[:1] = 0.5 * values[:1] + 0.5 / values.shape[1]
    return result.copy(data=values)


def first_label(result: xr.DataArray, *_: object) -> xr.DataArray:
    values = result.values.copy()
    values[:, 0] += 1e-3
    return result.copy(data=values / (1 + 1e-3))


def writes(act: Callable[[xr.Dataset], object]) -> object:
    def change(result: xr.DataArray, table: xr.Dataset, keys: Keys) -> xr.DataArray:
        act(table)
        return result

    return aggregates(change)


def needs_annotators(self: Shares, annotations: xr.Dataset) -> Rows:
    rows = Shares.rows(self, annotations)
    if (rows.annotator < 0).any():
        raise KeyError(-1)
    return rows


def unchecked(self: Shares, annotations: xr.Dataset) -> Rows:
    if annotations.attrs["kind"] not in self.accepts:
        return Shares.rows(self, annotations)
    rows = Rows.of(annotations)
    return Shares.rows(self, annotations) if (rows.votes == 0).any() else rows


def unanswered_too(self: Shares, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
    try:
        return Shares.aggregate(self, annotations, keys)
    except ValueError as error:
        if "no response" not in str(error):
            raise
    rows = Rows.of(annotations)
    votes = rows.by_label(rows.weight[rows.response]) + 1e-9
    return rows.plausibilities(votes / votes.sum(axis=1, keepdims=True))


def sparse_uneven(self: Shares, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
    """Return a sparse form that is the dense one but for half of the first weight."""
    sparse = to_sparse(Shares.aggregate(self, annotations, keys))
    weight = sparse["weight"].values.copy()
    weight[0, 0] /= 2
    return sparse.assign(weight=(("example", "slot"), weight))


AGGREGATORS: Mutants = {
    **common(Shares, "aggregate", lambda result: result.assign_attrs(note="fitted")),
    "accepts-kinds": changed(Shares, accepts=frozenset()),
    "simplex/names": aggregates(lambda result, *_: result.expand_dims("fold")),
    "simplex": aggregates(negative),
    "example-order": aggregates(first_example),
    "label-order": aggregates(first_label),
    "annotator-order": changed(
        Shares, weights=lambda _, rows: (1.0 + (rows.annotator == 0)) * rows.weight
    ),
    "example-alone": aggregates(lambda r, *_: 0.9 * r + 0.1 * r.mean("example") if len(r) else r),
    "example-alone/joint without need": changed(Shares, joint=True),
    "inputs-unchanged": writes(lambda table: table.attrs.update(seen=1)),
    "inputs-unchanged/columns": writes(lambda table: table["response_example"].values.sort()),
    "declared-labels": aggregates(lambda r, *_: r.drop_sel(label=UNNAMED, errors="ignore")),
    "missing-responses": changed(Shares, aggregate=unanswered_too),
    "one-label": aggregates(lambda r, *_: r * (0.5 if r.sizes["label"] == 1 else 1)),
    "counted-responses/unknown annotators": changed(Shares, rows=needs_annotators),
    "counted-responses": changed(Shares, weights=lambda _, rows: np.ones(rows.example.size)),
    "coordinates-kept": aggregates(lambda r, *_: r.drop_vars("patient", errors="ignore")),
    "sparse-same": changed(Shares, aggregate_sparse=sparse_uneven),
    "unfit-refused": changed(
        Shares, rows=lambda _, table: answered_rows(table, frozenset({str(table.attrs["kind"])}))
    ),
    "unfit-refused/detached": changed(Shares, rows=unchecked),
}


# ---- score functions


def scores(change: Callable[[Floats], Floats], **members: object) -> object:
    return changed(
        Scaled, score=lambda self, probabilities, uniform: change(probabilities), **members
    )


def doubles_in_place(p: Floats) -> Floats:
    result: Floats = p / p.sum(axis=-1, keepdims=True)
    if p.flags.writeable:
        p *= 2
    return result


def writes_the_same(p: Floats) -> Floats:
    p *= 1
    return p * 1


def divides_by_gaps(p: Floats) -> Floats:
    if p.shape[-1] < 2:
        return p * 1
    gaps = np.diff(np.sort(p, axis=-1), axis=-1).min(axis=-1, keepdims=True, initial=1)
    result: Floats = p * (gaps / gaps)
    return result


SCORES: Mutants = {
    **common(Scaled, "score", lambda result: result * 2),
    "readable/parameters": changed(Scaled, __repr__=lambda self: "Scaled()"),
    "shape": scores(lambda p: p.reshape(-1, p.shape[-1]) if p.ndim > 2 else p * 1),
    "float32-kept": scores(lambda p: p.astype(np.float64)),
    "identity": scores(lambda p: p * 2, identity=True),
    "label-order": scores(lambda p: p + np.arange(p.shape[-1], dtype=p.dtype) / 1000),
    "rows-alone": scores(lambda p: p - p.dtype.type(p.sum(dtype=np.float64))),
    "inputs-unchanged": scores(doubles_in_place),
    "inputs-unchanged/read-only": scores(writes_the_same),
    "larger-fits-better": scores(lambda p: -p),
    "shape/extremes": scores(lambda p: p * (p / p)),
    "shape/ties": scores(divides_by_gaps),
    "shape/one label": scores(lambda p: p - np.partition(p, -2, axis=-1)[..., -2:-1]),
    "shape/no examples": scores(lambda p: p + 0 * p.max()),
}


# ---- calibrators

uses = partial(before, Drawn, "calibrate")
calibrates = partial(after, Drawn, "calibrate")


def uses_changed(change: Callable[[CalibrationData], dict[str, object]]) -> object:
    return uses(lambda data, keys: (attrs.evolve(data, **change(data)), keys))


def by_place(data: CalibrationData) -> dict[str, object]:
    return {"examples": HashedNames(np.arange(len(data), dtype=np.uint64))}


def smoothed(data: CalibrationData) -> dict[str, object]:
    smooth = 0.9 * data.plausibilities + 0.1 / data.plausibilities.shape[1]
    return {"plausibilities": Dense(smooth)}


def needs_two(data: CalibrationData, keys: Keys) -> tuple[CalibrationData, Keys]:
    if len(data) == 1:
        raise ValueError("not enough: 1")
    return data, keys


def voted(data: CalibrationData) -> CalibrationScores:
    return CalibrationScores(scores=data.scores_at(data.majority_vote()[None, :]))


def scores_changed(change: Callable[[Floats, CalibrationData], Floats]) -> object:
    return calibrates(lambda r, data, _: attrs.evolve(r, scores=change(r.scores, data)))


CALIBRATORS: Mutants = {
    **common(Drawn, "calibrate", lambda result: attrs.evolve(result, claim=Claim(covers="fitted"))),
    "scores-valid": calibrates(
        lambda result, *_: attrs.evolve(result, claim=Claim(assumption=None, conditions=()))
    ),
    "scores-valid/float32": scores_changed(lambda scores, _: scores.astype(np.float64)),
    "row-order": uses_changed(by_place),
    "example-alone": uses(lambda data, keys: (data, keys.child(str(len(data))))),
    "seed-respected": uses(lambda data, keys: (data, Keys(0, "mine"))),
    "without-denominator": calibrates(
        lambda result, data, _: result if data.denominator is not None else voted(data)
    ),
    "impossible-labels": uses_changed(smoothed),
    "few": scores_changed(lambda scores, data: scores + (len(data.labels) == 1)),
    "few/examples": uses(needs_two),
    "coverage": calibrates(lambda result, data, _: voted(data)),
}


# ---- combiners


def combines(change: Callable[[PValues], Floats], **members: object) -> object:
    return changed(Mean, combine=lambda self, p, held_out: change(p), **members)


def guarantees(**facts: object) -> object:
    return after(Mean, "guarantee", lambda result, *_: attrs.evolve(result, **facts))


def with_held_out(self: Mean, p: PValues, held_out: PValues | None) -> Floats:
    if held_out is None:
        raise IncompatibleComponents("held-out-missing", "no held-out examples")
    return p.mean()


def needs_queries(p: PValues) -> Floats:
    if not p.size:
        raise ValueError("not enough")
    return p.mean()


def less_at_the_least(result: Guarantee, *_: object) -> Guarantee:
    return attrs.evolve(result, level=Fraction(1, 2)) if result.alpha == Fraction(1, 20) else result


COMBINERS: Mutants = {
    **common(Mean, "guarantee", lambda result: attrs.evolve(result, reason="fitted")),
    "held-out-share": changed(Mean, held_out=1.0, combine=with_held_out),
    "p-values": combines(lambda p: p.mean().ravel() if p.size else p.mean()),
    "p-values/no queries": combines(needs_queries),
    "p-values/beyond 1": combines(lambda p: np.where(p.mean() == 1, 1 + 1e-9, p.mean())),
    "query-alone": combines(lambda p: p.mean() * (1 - 1e-6 * p.size)),
    "monotone": combines(lambda p: np.where(p.mean() > 0.8, 1.8 - p.mean(), p.mean())),
    "held-out-needed": changed(Mean, held_out=0.5),
    "guarantee-stated": guarantees(reason=" "),
    "guarantee-falls": after(Mean, "guarantee", less_at_the_least),
    "vacuity-stated": guarantees(vacuous=False),
    "super-uniform": combines(lambda p: p.each().min(axis=0), needs="each"),
}


MUTANTS = {
    "annotation": ANNOTATIONS,
    "reader": READERS,
    "aggregator": AGGREGATORS,
    "score": SCORES,
    "calibrator": CALIBRATORS,
    "combiner": COMBINERS,
}
ALSO = {
    ("aggregator", "example-order"): "example-alone",
    ("calibrator", "row-order"): "example-alone",
    ("reader", "recognises-its-own/number"): "recognises-no-other",
}
"""The rule that a component breaks too, where one fault cannot but break two."""


SOUND: dict[str, object] = {
    "annotation": Words(),
    "reader": Bars(),
    "aggregator": Shares(),
    "score": Scaled(),
    "calibrator": Drawn(),
    "combiner": Mean(),
}
SIMULATIONS = {"coverage", "super-uniform"}
"""Rules that take a second: tried only on components that are made to break them."""


@pytest.fixture
def data(tmp_path: Path) -> dict[str, dict[str, Any]]:  # Any: arguments, by name
    """Arguments of the check of each kind."""
    path = tmp_path / "good.kit"
    path.write_text(FILE, encoding="utf-8")
    return {"reader": {"path": path}}


def test_every_rule_has_a_component_that_breaks_it() -> None:
    assert MUTANTS.keys() == {kind.name for kind in KINDS}
    for kind, mutants in MUTANTS.items():
        broken = {name.partition("/")[0] for name in mutants}
        assert {rule.name for rule in rules(kind)} == broken, kind


@pytest.mark.parametrize("kind", SOUND)
def test_what_they_are_made_from_keeps_every_rule(
    kind: str, data: dict[str, dict[str, Any]]
) -> None:
    report = check(kind, SOUND[kind], **data.get(kind, {}))
    assert {result.state for result in report.rules} == {"holds"}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, mutants in MUTANTS.items() for name in mutants]
)
def test_it_is_caught_by_its_rule_and_by_no_other(
    kind: str, name: str, data: dict[str, dict[str, Any]]
) -> None:
    component, rule = MUTANTS[kind][name], name.partition("/")[0]
    fixture = rules_of(kind).fixture(component, data.get(kind, {}))
    broken = {rule, ALSO.get((kind, name), rule)}
    tried = [rule for rule in rules(kind) if rule.name in broken or rule.name not in SIMULATIONS]
    results = [try_rule(rule, component, fixture) for rule in tried]
    fails = {result.name: result.detail for result in results if result.state == "fails"}
    assert fails.keys() == broken, fails
    assert fails[rule].strip()

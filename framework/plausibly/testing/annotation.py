"""Rules of annotation kinds, tried on example records of the kind."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import check_table, is_intact
from plausibly.data.names import name_text, name_texts
from plausibly.data.records import Record
from plausibly.data.select import concat, select, to_frame
from plausibly.errors import InputError
from plausibly.protocols import ANNOTATION, Annotation
from plausibly.testing import data
from plausibly.testing.data import texts
from plausibly.testing.rules import NoData, RuleBook, demand, enter_common, refused, same

_EXTRA = "nobody names this"
_Rows: TypeAlias = list[tuple[object, ...]]


@attrs.frozen
class AnnotationWorld:
    """Records of a kind, and the labels that they declare."""

    given: tuple[Record, ...]
    labels: tuple[str, ...]

    def records(self, examples: Sequence[str] | None = None) -> list[Record]:
        """Return copies of the records, of all examples or of some."""
        wanted = self.examples if examples is None else examples
        return [copy.deepcopy(record) for record in self.given if name_text(record[0]) in wanted]

    @property
    def examples(self) -> list[str]:
        return list(dict.fromkeys(name_text(record[0]) for record in self.given))

    def table(self, annotation: Annotation, examples: Sequence[str] | None = None) -> xr.Dataset:
        return annotation.build(self.records(examples), self.labels)

    def demand_answers(self, annotation: Annotation, table: xr.Dataset, what: str) -> None:
        """Demand that a table holds the answers of all records."""
        demand(_rows(table) == _rows(self.table(annotation)), what)


def world_for(
    annotation: Annotation,
    records: Iterable[Record] | None = None,
    labels: Sequence[str] | None = None,
) -> AnnotationWorld | NoData:
    """Return the given records, else those that the kind offers in ``example()``."""
    do = 'records=[("case 1", "r1", answer), ...] and labels=[...], or a method example() of both'
    if records is None:
        offered = data.example_of(annotation)
        if offered is None:
            return NoData("there are no records to try it on", do)
        records, found = offered
        labels = found if labels is None else labels
    given = tuple((example, annotator, answer) for example, annotator, answer in records)
    if len({name_text(record[0]) for record in given}) < 2 or all(r[1] is None for r in given):
        return NoData("the records are not about two examples, with an annotator that is known", do)
    if labels is None:
        table = annotation.build(copy.deepcopy(list(given)), None)
        labels = texts(table, names.LABEL)
    return AnnotationWorld(given, tuple(labels))


BOOK: RuleBook[Annotation, AnnotationWorld] = RuleBook(ANNOTATION, world_for, ("records", "labels"))


def _rows(table: xr.Dataset) -> _Rows:
    """Return one row a mention, by name and in an order that no input has."""
    frame = to_frame(table).reset_index(drop=True)
    cells = frame.astype(object).where(frame.notna(), None)
    return sorted((tuple(row) for row in cells.itertuples(index=False)), key=repr)


enter_common(BOOK, lambda annotation, world: [world.table(annotation)])


@BOOK.rule
def builds(annotation: Annotation, world: AnnotationWorld) -> None:
    """It builds a table of its own kind, with every name as text."""
    table = world.table(annotation)
    check_table(table)
    kind = table.attrs[names.KIND]
    demand(
        kind == annotation.name, f"the table says kind {kind}, and the name is {annotation.name}"
    )
    has = texts(table, names.EXAMPLE)
    demand(sorted(has) == sorted(world.examples), "the examples of the table are others")
    by = {name_text(record[1]) for record in world.given if record[1] is not None}
    demand(set(texts(table, names.ANNOTATOR)) == by, "the annotators are others")
    responses = table.sizes[names.RESPONSE]
    demand(
        responses == len(world.given), f"{len(world.given)} records become {responses} responses"
    )


@BOOK.rule
def validates(annotation: Annotation, world: AnnotationWorld) -> None:
    """It accepts its own tables, and refuses those of another kind and detached ones."""
    table = world.table(annotation)
    annotation.validate(table)
    other = data.of_nobodys_kind(table)
    refused(lambda: annotation.validate(other), "for a table of another kind")
    cut = data.cut(table)
    refused(lambda: annotation.validate(cut), "for a detached table")


@BOOK.rule
def declared_labels(annotation: Annotation, world: AnnotationWorld) -> None:
    """Declared labels are all there, in their order, also those that nobody names."""
    declared = [_EXTRA, *reversed(world.labels)]
    table = annotation.build(world.records(), declared)
    demand(texts(table, names.LABEL) == declared, "the labels are not as declared")
    world.demand_answers(annotation, table, "labels declared otherwise change the answers")


@BOOK.rule
def undeclared_refused(annotation: Annotation, world: AnnotationWorld) -> None:
    """A label that was not declared is an InputError that names it."""
    table = world.table(annotation)
    used = table[names.MENTION_LABEL].values
    label = name_texts(table.indexes[names.LABEL][used[:1]])[0]
    others = [name for name in world.labels if name != label]
    refused(
        lambda: annotation.build(world.records(), others), "for an undeclared label", naming=label
    )


@BOOK.rule
def labels_seen(annotation: Annotation, world: AnnotationWorld) -> None:
    """Without declared labels it takes those that it sees, and says that they were seen."""
    table = annotation.build(world.records(), None)
    demand(not table.attrs[names.LABELS_DECLARED], "it says that they were declared")
    world.demand_answers(annotation, table, "with labels as seen the answers change")


@BOOK.rule
def record_order(annotation: Annotation, world: AnnotationWorld) -> None:
    """The order of the records does not matter."""
    turned = annotation.build(world.records()[::-1], world.labels)
    world.demand_answers(annotation, turned, "records turned round change answers")


@BOOK.rule
def read_once(annotation: Annotation, world: AnnotationWorld) -> None:
    """Records that can be read only once are enough."""
    table = annotation.build(iter(world.records()), world.labels)
    demand(same(table, world.table(annotation)), "from an iterator it builds another table")


@BOOK.rule
def lazy_stays_lazy(annotation: Annotation, world: AnnotationWorld) -> None:
    """Validate reads a table of Dask arrays, and does not load it in its place."""
    lazy = data.in_chunks(world.table(annotation))
    annotation.validate(lazy)
    demand(data.is_lazy(lazy), "the table is loaded in its place")


@BOOK.rule
def inputs_unchanged(annotation: Annotation, world: AnnotationWorld) -> None:
    """The records are afterwards what they were before."""
    records, labels = world.records(), list(world.labels)
    annotation.build(records, labels)
    demand(records == list(world.given), "it changes the records")
    demand(labels == list(world.labels), "it changes the list of labels")
    table = world.table(annotation)
    annotation.validate(table)
    demand(is_intact(table) and same(table, world.table(annotation)), "validate changes the table")


@BOOK.rule
def names_as_written(annotation: Annotation, world: AnnotationWorld) -> None:
    """Names stay as they were written: 007 is not 7."""
    records = [(f"00{row % 2}", f"0{row}", r[2]) for row, r in enumerate(world.records())]
    table = annotation.build(records, world.labels)
    has = texts(table, names.EXAMPLE)
    demand(set(has) == {"000", "001"}, f"000 and 001 become {', '.join(has)}")
    by = set(texts(table, names.ANNOTATOR))
    demand(by == {record[1] for record in records}, "annotators such as 00 lose their zeros")


@BOOK.rule
def unknown_annotators(annotation: Annotation, world: AnnotationWorld) -> None:
    """An annotator None is unknown, and may answer an example several times."""
    records = [(r[0], None, r[2]) for r in world.records()]
    table = annotation.build(records + copy.deepcopy(records), world.labels)
    annotation.validate(table)
    codes = table[names.RESPONSE_ANNOTATOR].values
    demand((codes == names.UNKNOWN_ANNOTATOR).all(), "None becomes an annotator")
    demand(codes.size == 2 * len(records), f"{2 * len(records)} records become {codes.size}")


@BOOK.rule
def answers_once(annotation: Annotation, world: AnnotationWorld) -> None:
    """A second response of an annotator to an example is an InputError that names the annotator."""
    known = next(record for record in world.records() if record[1] is not None)
    twice = [*world.records(), known]
    by = name_text(known[1])
    refused(lambda: annotation.build(twice, world.labels), "for a second response", naming=by)


@BOOK.rule
def odd_answers_refused(annotation: Annotation, world: AnnotationWorld) -> None:
    """An answer that is none is an InputError that names the example."""
    example = world.examples[-1]
    odd = [*world.records(), (example, "somebody else", object())]
    refused(lambda: annotation.build(odd, world.labels), "for an odd answer", naming=example)


@BOOK.rule
def nothing_refused(annotation: Annotation, world: AnnotationWorld) -> None:
    """No records are an InputError."""
    refused(lambda: annotation.build([], world.labels), "for no records")


@BOOK.rule
def one_label(annotation: Annotation, world: AnnotationWorld) -> None:
    """Records of one label build a table, or are refused with an InputError."""
    table = world.table(annotation)
    label = name_texts(table.indexes[names.LABEL][table[names.MENTION_LABEL].values[:1]])
    try:
        found = annotation.build(world.records(), label)
    except InputError:
        return
    demand(texts(found, names.LABEL) == label, "there are more labels than declared")


@BOOK.rule
def part_selected(annotation: Annotation, world: AnnotationWorld) -> None:
    """A part of a table is the table of a part of the records."""
    some = world.examples[::2]
    part = select(world.table(annotation), example=some)
    annotation.validate(part)
    built = world.table(annotation, some)
    demand(_rows(part) == _rows(built), "select gives other answers than a build of that part")


@BOOK.rule
def parts_joined(annotation: Annotation, world: AnnotationWorld) -> None:
    """Tables of parts, joined, are the table of the whole."""
    halves = world.examples[::2], world.examples[1::2]
    whole = concat([world.table(annotation, half) for half in halves])
    annotation.validate(whole)
    world.demand_answers(annotation, whole, "concat gives other answers")


@BOOK.rule
def shown_as_frame(annotation: Annotation, world: AnnotationWorld) -> None:
    """As a table of pandas it has every response, by name."""
    table = world.table(annotation)
    frame = to_frame(table)
    cells = frame[[names.EXAMPLE, names.ANNOTATOR]].astype(object)
    shown = set(cells.where(cells.notna(), None).itertuples(index=False, name=None))
    wanted = {(name_text(e), None if a is None else name_text(a)) for e, a, _ in world.given}
    demand(shown == wanted, "to_frame shows other responses than the records hold")


@BOOK.rule
def netcdf_round_trip(annotation: Annotation, world: AnnotationWorld) -> None:
    """Written to netCDF and read again it is the same table, with its checksum."""
    table = world.table(annotation)
    written = bytes(table.to_netcdf(engine="scipy"))
    again = xr.load_dataset(io.BytesIO(written), engine="scipy", decode_times=False)
    demand(is_intact(again), "the checksum does not fit what comes out of the file")
    annotation.validate(again)
    world.demand_answers(annotation, again, "the answers that come out of the file are others")

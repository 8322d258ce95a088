"""Rules of annotation kinds, tried on example records of the kind."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Sequence
from functools import partial

import attrs
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import check_table, is_intact
from plausibly.data.names import name_text
from plausibly.data.records import Record
from plausibly.data.select import concat_annotations, select_annotations, to_frame
from plausibly.errors import InputError
from plausibly.protocols import ANNOTATION, Annotation
from plausibly.testing import data
from plausibly.testing.data import UNNAMED, texts
from plausibly.testing.rules import RuleSet, demand, enter_common, no_data, refused, same


@attrs.frozen
class AnnotationFixture:
    """Records of a kind, and the labels that they declare."""

    originals: tuple[Record, ...]
    labels: tuple[str, ...]

    def records(self, examples: Sequence[str] | None = None) -> list[Record]:
        """Return copies of the records, of all examples or of some."""
        wanted = self.examples if examples is None else examples
        return [
            copy.deepcopy(record) for record in self.originals if name_text(record[0]) in wanted
        ]

    @property
    def examples(self) -> list[str]:
        return list(dict.fromkeys(name_text(record[0]) for record in self.originals))

    def table(self, annotation: Annotation, examples: Sequence[str] | None = None) -> xr.Dataset:
        return annotation.build(self.records(examples), self.labels)

    def demand_answers(self, annotation: Annotation, table: xr.Dataset, what: str) -> None:
        demand(_rows(table) == _rows(self.table(annotation)), what)


def fixture_for(
    annotation: Annotation,
    records: Iterable[Record] | None = None,
    labels: Sequence[str] | None = None,
) -> AnnotationFixture | InputError:
    """Return the given records, else those that the kind offers in ``example()``."""
    hint = 'records=[("case 1", "r1", answer), ...] and labels=[...], or a method example() of both'
    if records is None:
        offered = data.example_of(annotation)
        if offered is None:
            return no_data("there are no records to try it on", hint)
        records, offered_labels = offered
        labels = offered_labels if labels is None else labels
    originals = tuple((example, annotator, answer) for example, annotator, answer in records)
    known = any(annotator is not None for _, annotator, _ in originals)
    if not known or len({name_text(record[0]) for record in originals}) < 2:
        what = "the records are not about two examples, with an annotator that is known"
        return no_data(what, hint)
    if labels is None:
        table = annotation.build(copy.deepcopy(list(originals)), None)
        labels = texts(table, names.LABEL)
    return AnnotationFixture(originals, tuple(labels))


RULES: RuleSet[Annotation, AnnotationFixture] = RuleSet(ANNOTATION, fixture_for)


def _rows(table: xr.Dataset) -> list[tuple[object, ...]]:
    """Return one row per mention, by name and in an order that no input has."""
    frame = to_frame(table).reset_index(drop=True)
    cells = frame.astype(object).where(frame.notna(), None)
    return sorted((tuple(row) for row in cells.itertuples(index=False)), key=repr)


enter_common(RULES, lambda annotation, fixture: [fixture.table(annotation)])


@RULES.rule
def builds(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """It builds a table of its own kind, with every name as text."""
    table = fixture.table(annotation)
    check_table(table)
    kind, name = table.attrs[names.KIND], annotation.name
    demand(kind == name, f"the table says kind {kind}, and the name is {name}")
    has = texts(table, names.EXAMPLE)
    demand(sorted(has) == sorted(fixture.examples), "the examples of the table are others")
    by = {name_text(record[1]) for record in fixture.originals if record[1] is not None}
    demand(set(texts(table, names.ANNOTATOR)) == by, "the annotators are others")
    responses, records = table.sizes[names.RESPONSE], len(fixture.originals)
    demand(responses == records, f"{records} records become {responses} responses")


@RULES.rule
def validates(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """It accepts its own tables, and refuses those of another kind and detached ones."""
    table = fixture.table(annotation)
    annotation.validate(table)
    unknown = data.of_unknown_kind(table)
    refused(lambda: annotation.validate(unknown), "for a table of another kind")
    cut = data.cut(table)
    refused(lambda: annotation.validate(cut), "for a detached table")


@RULES.rule
def declared_labels(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """Declared labels are all there, in their order, also those that no annotator names."""
    declared = [UNNAMED, *reversed(fixture.labels)]
    table = annotation.build(fixture.records(), declared)
    demand(texts(table, names.LABEL) == declared, "the labels are not as declared")
    fixture.demand_answers(annotation, table, "labels declared otherwise change the answers")


@RULES.rule
def undeclared_refused(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """A label that was not declared is an InputError that names it."""
    table = fixture.table(annotation)
    label = texts(table, names.LABEL)[int(table[names.MENTION_LABEL].values[0])]
    others = [name for name in fixture.labels if name != label]
    build = partial(annotation.build, fixture.records(), others)
    refused(build, "for an undeclared label", naming=label)


@RULES.rule
def labels_seen(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """Without declared labels it takes those that it sees, and says that they were seen."""
    table = annotation.build(fixture.records(), None)
    demand(not table.attrs[names.LABELS_DECLARED], "it says that they were declared")
    fixture.demand_answers(annotation, table, "with labels as seen the answers change")


@RULES.rule
def records_read(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """The order of the records does not matter, and to read them once is enough."""
    table = annotation.build(iter(fixture.records()), fixture.labels)
    demand(same(table, fixture.table(annotation)), "from an iterator it builds another table")
    turned = annotation.build(fixture.records()[::-1], fixture.labels)
    fixture.demand_answers(annotation, turned, "records turned round change answers")


@RULES.rule
def inputs_unchanged(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """The records are afterwards what they were before."""
    records, labels = fixture.records(), list(fixture.labels)
    annotation.build(records, labels)
    demand(records == list(fixture.originals), "it changes the records")
    demand(labels == list(fixture.labels), "it changes the list of labels")
    table = fixture.table(annotation)
    annotation.validate(table)
    kept = is_intact(table) and same(table, fixture.table(annotation))
    demand(kept, "validate changes the table")


@RULES.rule
def names_as_written(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """Names stay as they were written: 007 is not 7."""
    records = [(f"00{row % 2}", f"0{row}", r[2]) for row, r in enumerate(fixture.records())]
    table = annotation.build(records, fixture.labels)
    has = texts(table, names.EXAMPLE)
    demand(set(has) == {"000", "001"}, f"000 and 001 become {', '.join(has)}")
    by = set(texts(table, names.ANNOTATOR))
    demand(by == {record[1] for record in records}, "annotators such as 00 lose their zeros")


@RULES.rule
def unknown_annotators(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """An annotator None is unknown, and may answer an example several times."""
    records = [(r[0], None, r[2]) for r in fixture.records()]
    table = annotation.build(records + copy.deepcopy(records), fixture.labels)
    annotation.validate(table)
    codes = table[names.RESPONSE_ANNOTATOR].values
    demand((codes == names.UNKNOWN_ANNOTATOR).all(), "None becomes an annotator")
    demand(codes.size == 2 * len(records), f"{2 * len(records)} records become {codes.size}")


@RULES.rule
def answers_once(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """A second response of an annotator to an example is an InputError that names the annotator."""
    known = next(record for record in fixture.records() if record[1] is not None)
    twice = [*fixture.records(), known]
    by = name_text(known[1])
    refused(lambda: annotation.build(twice, fixture.labels), "for a second response", naming=by)


@RULES.rule
def unfit_refused(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """No records, and an answer that is none, are an InputError; the latter names the example."""
    refused(lambda: annotation.build([], fixture.labels), "for no records")
    example = fixture.examples[-1]
    odd = [*fixture.records(), (example, "another annotator", object())]
    refused(lambda: annotation.build(odd, fixture.labels), "for an odd answer", naming=example)


@RULES.rule
def parts(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """A part of a table is the table of a part of the records, and parts joined are the whole."""
    examples = fixture.examples[::2]
    part = select_annotations(fixture.table(annotation), example=examples)
    annotation.validate(part)
    built = fixture.table(annotation, examples)
    demand(_rows(part) == _rows(built), "select gives other answers than a build of that part")
    halves = fixture.examples[::2], fixture.examples[1::2]
    whole = concat_annotations([fixture.table(annotation, half) for half in halves])
    annotation.validate(whole)
    fixture.demand_answers(annotation, whole, "concat gives other answers")


@RULES.rule
def netcdf_round_trip(annotation: Annotation, fixture: AnnotationFixture) -> None:
    """Written to netCDF and read again it is the same table, with its checksum."""
    table = fixture.table(annotation)
    written = bytes(table.to_netcdf(engine="scipy"))
    again = xr.load_dataset(io.BytesIO(written), engine="scipy", decode_times=False)
    demand(is_intact(again), "the checksum does not fit what comes out of the file")
    annotation.validate(again)
    fixture.demand_answers(annotation, again, "the answers that come out of the file are others")

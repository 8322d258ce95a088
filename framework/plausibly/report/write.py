"""The report: one HTML file that shows whether prediction sets can be trusted."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.atomic import check_ours, holds, replacing
from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import several
from plausibly.data.states import read_left_out
from plausibly.errors import InputError, an, counted
from plausibly.evaluation.design import Methods
from plausibly.evaluation.evaluation import STRATA
from plausibly.evaluation.inputs import as_typed
from plausibly.evaluation.result import data_of
from plausibly.evaluation.study import METHOD, Study as Compared
from plausibly.extras import require
from plausibly.kernels.coverage import Ties
from plausibly.report import REPORT, sections, sources
from plausibly.report.model import ReportData, Section
from plausibly.report.subject import Options, Subject, with_tables
from plausibly.study.prepare import Prepared
from plausibly.study.run import StudyResult

PAGE = Path(__file__).with_name("page")


def render(data: ReportData) -> str:
    jinja = require("jinja2", extra="report", source="the report")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        keep_trailing_newline=True,
    )
    return str(environment.get_template("page.html.j2").render(report=data))


def build(subject: Subject) -> ReportData:
    cases, shown = sections.cases(subject)
    uniform = sections.uniformity(subject)
    measured = [sections.measured(subject, method) for method in subject.methods]
    views: list[Section] = []
    for place, method in enumerate(subject.methods):
        checks = sections.method_checks(subject, place, uniform)
        for at, guarantee in enumerate(method.guarantees):
            here = measured[place][at]
            weak, low = sections.weak(subject, here, guarantee)
            targets = [other.guarantees[at].target for other in subject.methods]
            compared = targets[place] != "majority-vote" and "majority-vote" in targets
            voted = measured[targets.index("majority-vote")][at] if compared else None
            views.append(
                Section(
                    method=place,
                    alpha=at,
                    verdict=sections.verdict(subject, here, guarantee, low, checks),
                    vote=sections.vote(subject, here, voted),
                    realised=sections.realised(subject, here),
                    weak=weak,
                    sizes=sections.sizes(subject, here),
                    surprising=sections.surprising(subject, len(views), shown),
                    splits=sections.splits(subject, method.name, at),
                )
            )
    words, annotators = subject.words, len(subject.annotator_names)
    counts = [
        f"{counted(subject.n)} {words.example if subject.n == 1 else words.examples}",
        several(len(subject.labels), "label"),
    ]
    if annotators:
        noun = words.annotator if annotators == 1 else words.annotators
        counts.append(f"{counted(annotators)} {noun}")
    scores = [column.name for column in cases.scores]
    return ReportData(
        title=subject.options.title,
        subtitle=", ".join(counts),
        words=words,
        labels=tuple(
            Section(name=label, risk=str(subject.risk.get(label, "")), severity=severity)
            for label, severity in zip(subject.labels, subject.severity.tolist(), strict=True)
        ),
        methods=tuple(
            Section(
                name=method.name,
                about=method.about,
                score=scores.index(method.score),
                reference=method.reference,
            )
            for method in subject.methods
        ),
        alphas=tuple(map(str, subject.alphas)),
        groups=tuple(
            Section(name=name, values=tuple(values))
            for name, (values, _) in zip(subject.by, subject.coded, strict=True)
        ),
        strata=STRATA,
        views=tuple(views),
        disagreement=sections.disagreement(subject),
        cases=cases,
        assumptions=sections.assumptions(subject, uniform),
        provenance=_provenance(subject),
    )


ANONYMOUS = (
    "Names of {examples} and {annotators} are replaced by numbers, and names of files are left "
    "out. Labels, groups, columns and texts are shown as they are."
)
NAMED = (
    "This page contains the names of {examples}, {annotators} and files; --anonymous "
    "(anonymous=True) replaces them."
)


def _provenance(subject: Subject) -> Section:
    options, words = subject.options, subject.words
    note = (ANONYMOUS if options.anonymous else NAMED).format(
        examples=words.examples, annotators=words.annotators
    )
    rows = [("names", note)]
    if not options.anonymous:
        rows += [(title, name) for title, name in options.files.items() if name]
    if options.aggregator:
        rows.append(("aggregator", options.aggregator))
    rows.append(("sets", subject.source))
    for method in subject.methods:
        prints = " and ".join(dict.fromkeys(p.fingerprint for p, _ in method.tested))
        rows.append((f"predictor, {method.name}", f"{method.about}; fingerprint {prints}"))
    rows.append(("random seed", str(subject.seed)))
    left_out = read_left_out(subject.predictions.attrs)
    if left_out:
        reasons = (f"{counted(count)} {why}" for why, count in sorted(left_out.items()))
        rows.append(("left out", ", ".join(reasons)))
    versions = [("Python", platform.python_version())]
    versions += [(name, version(name)) for name in ("plausibly", "numpy", "scipy", "xarray")]
    sentence = "This report was made in Python; its data, methods and random seed are below."
    if options.anonymous:
        sentence = "The command and the study file are left out, as they contain names of files."
    elif options.command:
        sentence = "This command reproduces this report, byte for byte, with the same versions."
    return Section(
        sentence=sentence,
        names=note,
        command="" if options.anonymous else options.command,
        study="" if options.anonymous else options.study,
        rows=tuple(rows),
        versions=tuple(versions),
    )


Source: TypeAlias = "StudyResult | ConformalPredictor | Compared | xr.Dataset | Path | str"
"""Source of a report: a study, its folder or file, the result of `compare`, or a predictor."""

_SIGN = b'<meta name="generator" content="plausibly">'


@attrs.frozen(repr=False)
class Report:
    """A report that was written; it prints as one line."""

    path: Path
    size: int
    data: ReportData

    def __repr__(self) -> str:
        cases, words, size = self.data.cases, self.data.words, self.size
        amount = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
        shown = f" ({counted(cases.shown)} to look at)" if cases.shown < cases.total else ""
        word = words.example if cases.total == 1 else words.examples
        return f"{self.path}  {amount}, {counted(cases.total)} {word}{shown}, opens offline"


def write_report(
    source: Source,
    path: Path | str = REPORT,
    *,
    predictions: xr.DataArray | Path | str | None = None,
    annotations: xr.Dataset | Path | str | None = None,
    plausibilities: sources.Data | None = None,
    methods: Methods | None = None,
    alphas: Alphas | None = None,
    examples: xr.Dataset | Path | str | None = None,
    labels: xr.Dataset | Path | str | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    true_label: str | None = None,
    ties: Ties = "first",
    seed: int = 0,
    only_common: bool = False,
    title: str = "",
    text: str = "",
    thumbnail: str = "",
    anonymous: bool = False,
    words: Mapping[str, str] | None = None,
) -> Report:
    """Write a report: one HTML file that needs no other file and no network.

    The same data give the same file, byte for byte, in any order of their rows. For a study, every
    example has a set: random halves of the examples, as in the first split, are calibrated on each
    other. It needs the extra ``report``.

    Parameters
    ----------
    source : StudyResult, Dataset, ConformalPredictor, Path or str
        A study: the result of `plausibly.study.run_study`, the folder that ``plausibly run`` wrote,
        the study file, or the result of `plausibly.compare`, with its `predictions`, and
        `annotations` or `plausibilities`. Or a predictor, or its file, with new ones of these.
    path : Path or str
        File of the report. An older report is replaced once the new one is complete.
    predictions, annotations, plausibilities : DataArray, Dataset, Path or str, optional
        Predictions of new examples, or those that were compared, and the annotators' answers on
        them; plausibilities instead of annotations, or their aggregate by a method of your own.
    methods : mapping or sequence, optional
        With the result of `compare`: its methods, where some have parameters.
    examples, labels : Dataset, Path or str, optional
        Tables with more columns of the examples, such as the site, a text or a picture, and of the
        labels, such as their ``risk``; matched by name.
    by : str or sequence of str, optional
        Coordinates whose groups, and combinations of groups, are compared. By default all with at
        most 30 values.
    alphas, cluster, true_label, ties, seed, only_common
        With a predictor, see `plausibly.evaluate`; alpha 0.1 by default.
    title, words
        Heading, and words for examples and annotators:
        ``{"example": "nodule", "annotator": "reader"}``.
    text, thumbnail : str
        Coordinates of the examples with a text to show, and with the path of a small picture.
    anonymous : bool
        Replace the names of examples and annotators by numbers, and leave out those of files.

    Raises
    ------
    InputError
        ``report-argument`` where an argument is missing, or means nothing for this source;
        ``study-unfinished`` and ``study-changed``; and mistakes in the data.
    """
    require("jinja2", extra="report", source="the report")
    options = Options(
        title=title,
        words=sources.words_of(words),
        text=text,
        thumbnail=thumbnail,
        anonymous=anonymous,
    )
    groups = [by] if isinstance(by, str) else by
    opened = _opened(source)
    ran, predictor = isinstance(opened, tuple), isinstance(opened, ConformalPredictor)
    for name, value, known in (
        ("predictions", predictions, not ran),
        ("annotations", annotations, not ran),
        ("plausibilities", plausibilities, not ran),
        ("methods", methods, not ran and not predictor),
        ("alphas", alphas, predictor),
        ("cluster", cluster, predictor),
        ("true_label", true_label, predictor),
    ):
        if value is not None and not known:
            what = f"{name} has no meaning in a report on this source, which has its own"
            raise sources.unfit(name, what, f"no {name}", f"leave {name} out")
    if isinstance(opened, tuple):
        subject = sources.study_subject(
            *opened, options, examples=examples, labels=labels, by=groups
        )
        return write_subject(subject, path)
    model, table, answers = sources.read_data(predictions, annotations, plausibilities)
    typed = as_typed(0.1 if alphas is None else alphas)
    read_alphas(typed)
    data = Subject(
        predictions=with_tables(model, examples, labels),
        plausibilities=answers,
        annotations=table,
        alphas=typed,
        options=attrs.evolve(options, title=title or sources.default_title("")),
        groups=groups,
        cluster=cluster,
        true_label=true_label,
        ties=ties,
        seed=seed,
    )
    if isinstance(opened, ConformalPredictor):
        subject = sources.subject_of_predictor(opened, data, only_common=only_common)
    else:
        subject = sources.subject_of_comparison(opened, data, methods)
    return write_subject(subject, path)


def write_subject(subject: Subject, path: Path | str) -> Report:
    target = Path(path)
    check_ours(target, lambda there: holds(there, _SIGN), "an older report")
    data = build(subject)
    # A lone surrogate in a name has no bytes in UTF-8, and becomes a question mark.
    content = render(data).encode("utf-8", "replace")
    with replacing(target) as part:
        part.write_bytes(content)
    return Report(path=target, size=len(content), data=data)


def _opened(source: Source) -> tuple[Prepared, xr.Dataset] | ConformalPredictor | xr.Dataset:
    if isinstance(source, StudyResult):
        return source.prepared, source.compared
    if isinstance(source, ConformalPredictor):
        return source
    if isinstance(source, Path | str):
        where = Path(source)
        if where.suffix.lower() == ".toml" or (where.is_dir() and where.suffix != ".zarr"):
            return sources.finished(where)
        return load_predictor(where)
    result = data_of(source)
    if METHOD in getattr(result, "dims", ()):
        return result
    raise InputError(
        "report-source",
        f"there is no report on {an(type(source).__name__)}",
        expected="a study, its folder or file, the result of compare, or a predictor",
        found=type(source).__name__,
        hint='write_report("out", "report.html"), with the folder that plausibly run wrote',
        source="source",
    )

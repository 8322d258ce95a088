"""The report: one HTML file that says whether prediction sets can be trusted."""

from __future__ import annotations

import base64
import html
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly import plots
from plausibly.atomic import check_ours, holds, replacing
from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.data.states import read_left_out
from plausibly.errors import InputError, counted
from plausibly.evaluation.design import Methods
from plausibly.evaluation.evaluate import STRATA
from plausibly.evaluation.study import METHOD, Study as Compared
from plausibly.extras import require
from plausibly.kernels.coverage import Ties
from plausibly.plots.style import Axes, picture
from plausibly.report import REPORT, sections, sources
from plausibly.report.model import ReportData, Section
from plausibly.report.sections import Outcomes
from plausibly.report.subject import Options, Reported, Subject, with_tables
from plausibly.study.prepare import Prepared
from plausibly.study.run import StudyResult

PAGE = Path(__file__).with_name("page")


def _still(section: str, alt: str, axes: Axes) -> Section:
    content = base64.b64encode(picture(axes.figure, "svg", text="none")).decode("ascii")
    return Section(section=section, alt=alt, source=f"data:image/svg+xml;base64,{content}")


def render(data: ReportData) -> str:
    """Return the page: one HTML document that asks for no other file."""
    jinja = require("jinja2", extra="report", source="the report")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        keep_trailing_newline=True,
    )
    return str(environment.get_template("page.html.j2").render(report=data))


def gather(subject: Subject) -> ReportData:
    outcomes = Outcomes(subject)
    shown = sections.called(subject)
    cases = sections.cases(outcomes, sorted(shown))
    uniform = sections.uniformity(subject)
    found = [sections.measured(subject, method) for method in subject.methods]
    scores = [column.name for column in cases.scores]
    labels = name_texts(subject.predictions[names.LABEL].values)
    groups = sections.group_values(subject)
    views: list[Section] = []
    for place, method in enumerate(subject.methods):
        checks = sections.method_checks(subject, place, uniform)
        for at, guarantee in enumerate(method.guarantees):
            here = found[place][at]
            weak = sections.weak(subject, here, guarantee, groups)
            targets = [one.guarantees[at].target for one in subject.methods]
            beside = targets[place] != "majority-vote" and "majority-vote" in targets
            voted = found[targets.index("majority-vote")][at] if beside else None
            views.append(
                Section(
                    method=place,
                    alpha=at,
                    verdict=sections.verdict(subject, here, guarantee, weak, checks),
                    vote=sections.vote(subject, here, voted),
                    realised=sections.realised(subject, here),
                    weak=weak,
                    sizes=sections.sizes(subject, here),
                    surprising=sections.surprising(outcomes, len(views), cases.names),
                    splits=sections.splits(subject, method.name, at),
                )
            )
    words = subject.words
    require("matplotlib", extra="report", source="the report")
    evaluation, curves = found[0][0].evaluation, plots.realised(found[0][0].realised)
    counts = [
        f"{counted(subject.n)} {words.example if subject.n == 1 else words.examples}",
        several(len(labels), "label"),
    ]
    if shown:
        noun = words.annotator if len(shown) == 1 else words.annotators
        counts.append(f"{counted(len(shown))} {noun}")
    return ReportData(
        title=subject.options.title,
        subtitle=", ".join(counts),
        words=words,
        labels=tuple(
            Section(name=label, risk=risk, severity=severity)
            for label, risk, severity in zip(
                labels, outcomes.risks, outcomes.severity.tolist(), strict=True
            )
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
        strata=tuple(f"largest plausibility {stratum}" for stratum in STRATA),
        views=tuple(views),
        disagreement=sections.disagreement(subject, shown),
        cases=cases,
        believe=sections.believe(subject, uniform),
        provenance=_provenance(subject),
        stills=(
            _still("vote", "What the sets cover, with intervals", plots.coverage(evaluation)),
            _still("weak", f"Coverage of each of the {words.examples}, sorted", curves),
            _still("sizes", "How many labels the sets hold", plots.sizes(evaluation)),
        ),
    )


def _provenance(subject: Subject) -> Section:
    rows = [(title, text) for title, text in subject.options.facts.items() if text]
    rows.append(("sets", subject.how))
    for method in subject.methods:
        prints = " and ".join(dict.fromkeys(one.predictor.fingerprint for one in method.tested))
        rows.append((f"predictor, {method.name}", f"{method.about}; fingerprint {prints}"))
    rows.append(("seed", str(subject.seed)))
    left_out = read_left_out(subject.predictions.attrs)
    if left_out:
        reasons = (f"{counted(count)} {why}" for why, count in sorted(left_out.items()))
        rows.append(("left out", ", ".join(reasons)))
    versions = [("Python", platform.python_version())]
    versions += [(name, version(name)) for name in ("plausibly", "numpy", "scipy", "xarray")]
    sentence = "This report was made in Python; its data, methods and seed are below."
    if subject.options.command:
        sentence = "This command gives this report again, byte for byte, with the same versions."
    return Section(
        sentence=sentence,
        command=subject.options.command,
        study=subject.options.study,
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

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        cases, words, size = self.data.cases, self.data.words, self.size
        amount = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
        some = f" ({counted(cases.shown)} to look at)" if cases.shown < cases.total else ""
        word = words.example if cases.total == 1 else words.examples
        return f"{self.path}  {amount}, {counted(cases.total)} {word}{some}, opens offline"

    def _repr_html_(self) -> str:
        where = html.escape(self.path.as_posix(), quote=True)
        return f'<a href="{where}">{html.escape(repr(self))}</a>'


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
    annotator_names: bool = False,
    words: Mapping[str, str] | None = None,
) -> Report:
    """Write a report: one HTML file that opens by double click and asks for nothing.

    Parameters
    ----------
    source : StudyResult, Dataset, ConformalPredictor, Path or str
        A study: what `plausibly.study.run_study` gave, the folder that ``plausibly run`` wrote, the
        study file, or what `plausibly.compare` gave, with its `predictions`, and `annotations` or
        `plausibilities`. Or a predictor, or its file, with new ones of these.
    path : Path or str
        Of the report. A file that is there is replaced when the new one is whole.
    predictions : DataArray, Path or str, optional
        Of new examples, or those that were compared.
    annotations : Dataset, Path or str, optional
        What experts say of them, answer by answer.
    plausibilities : DataArray, Dataset, Path or str, optional
        Instead of annotations, or what they were aggregated to in a way of your own.
    methods : mapping or sequence, optional
        With what `compare` gave: its methods, where some have parameters.
    alphas : number or text, or a sequence of them, optional
        With a predictor; 0.1 by default.
    examples, labels : Dataset, Path or str, optional
        Tables of what else is known of the examples, such as the site, a text or a picture, and of
        the labels, such as their ``risk``; matched by name.
    by : str or sequence of str, optional
        Coordinates whose groups, and their crossings, are compared. By default all with at most
        30 values.
    cluster, true_label : str, optional
        With a predictor: coordinates of examples that belong together, and of known labels.
    ties, seed, only_common
        With a predictor, see `plausibly.evaluate`.
    title : str
        Heading; by default made from the names of files.
    text, thumbnail : str
        Coordinates of the examples with a text to show, and with the path of a small picture.
    annotator_names : bool
        Show annotators under their own names instead of r01, r02, ...
    words : mapping of str to str, optional
        What to call examples and annotators: ``{"example": "nodule", "annotator": "reader"}``.

    Returns
    -------
    Report
        It prints as ``report.html  2.1 MB, 3,000 examples, opens offline``.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without Jinja: ``pip install "plausibly[report]"``.
    InputError
        ``report-argument`` where an argument is missing, or means nothing for this source;
        ``study-unfinished`` and ``study-changed``; ``output-unwritable``; and what is wrong with
        the data. An old report is then as it was.

    Notes
    -----
    The same data give the same file, byte for byte, in whatever order their rows come. For a study,
    every example has a set: random halves of the examples, as in the first split, are calibrated on
    each other.
    """
    require("jinja2", extra="report", source="the report")
    options = Options(
        title=title,
        words=sources.words_of(words),
        text=text,
        thumbnail=thumbnail,
        annotator_names=annotator_names,
    )
    groups = [by] if isinstance(by, str) else by
    given: dict[str, object] = {
        "predictions": predictions,
        "annotations": annotations,
        "plausibilities": plausibilities,
        "methods": methods,
        "alphas": alphas,
        "cluster": cluster,
        "true_label": true_label,
    }
    found = _opened(source)
    if isinstance(found, tuple):
        sources.only(given, (), "a study that ran: it has its own")
        subject = sources.study_subject(
            *found, options, examples=examples, labels=labels, by=groups
        )
        return write_subject(subject, path)
    new, table, lam = sources.data(predictions, annotations, plausibilities)
    new = with_tables(new, examples, labels)
    options = attrs.evolve(options, title=title or sources.default_title(""))
    data = ("predictions", "annotations", "plausibilities")
    if isinstance(found, ConformalPredictor):
        sources.only(
            given, (*data, "alphas", "cluster", "true_label"), "a predictor: it has its own"
        )
        typed = np.asarray(0.1 if alphas is None else alphas, dtype=object).ravel().tolist()
        read_alphas(typed)
        reported = Reported(
            predictions=new,
            plausibilities=lam,
            annotations=table,
            alphas=typed,
            groups=groups,
            cluster=cluster,
            true_label=true_label,
            ties=ties,
            seed=seed,
        )
        subject = sources.subject_of_predictor(found, reported, options, only_common=only_common)
    else:
        sources.only(given, (*data, "methods"), "what compare gave: it has its own")
        study = sources.compared_results(found, new, table, lam, methods, groups)
        subject = sources.subject_of_study(study, options)
    return write_subject(subject, path)


def write_subject(subject: Subject, path: Path | str) -> Report:
    target = Path(path)
    check_ours(target, lambda there: holds(there, _SIGN), "an older report")
    data = gather(subject)
    # What UTF-8 cannot say, a lone half of a pair in some name, is a question mark.
    content = render(data).encode("utf-8", "replace")
    with replacing(target) as part:
        part.write_bytes(content)
    return Report(path=target, size=len(content), data=data)


def _opened(source: Source) -> tuple[Prepared, xr.Dataset] | ConformalPredictor | xr.Dataset:
    if isinstance(source, StudyResult):
        return source.prepared, source.compared
    if isinstance(source, ConformalPredictor):
        return source
    if isinstance(source, Compared):
        return source.data
    if isinstance(source, xr.Dataset):
        if METHOD in source.dims:
            return source
    elif isinstance(source, Path | str):
        where = Path(source)
        if where.suffix.lower() == ".toml" or (where.is_dir() and where.suffix != ".zarr"):
            return sources.finished(where)
        return load_predictor(where)
    raise InputError(
        "report-source",
        f"there is no report on a {type(source).__name__}",
        expected="a study, its folder or file, what compare gave, or a predictor",
        found=type(source).__name__,
        hint='write_report("out", "report.html"), with the folder that plausibly run wrote',
        source="source",
    )

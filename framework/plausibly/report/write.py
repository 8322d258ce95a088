"""``plausibly.write_report``: one HTML file that says whether prediction sets can be trusted."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.atomic import check_ours, holds, replacing
from plausibly.calibration.alphas import Alphas
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.conformal.stored import load_predictor
from plausibly.errors import InputError, counted
from plausibly.evaluation.design import Methods
from plausibly.evaluation.results import METHOD
from plausibly.extras import require
from plausibly.kernels.coverage import Ties
from plausibly.report import REPORT, given, of_predictor, sources
from plausibly.report.gather import gather
from plausibly.report.model import ReportData
from plausibly.report.options import Options, with_tables
from plausibly.report.render import render
from plausibly.report.subject import Subject
from plausibly.study.run import StudyResult

Source: TypeAlias = "StudyResult | ConformalPredictor | xr.Dataset | Path | str"
"""What a report is about: a study, its folder or file, what `compare` gave, or a predictor."""

Data: TypeAlias = "xr.DataArray | xr.Dataset | Path | str"

_SIGN = b'<meta name="generator" content="plausibly">'


@attrs.frozen(repr=False)
class Report:
    """A report that was written; it prints as one line.

    Attributes
    ----------
    path : Path
    size : int
        Bytes.
    data : ReportData
        All that it shows.
    """

    path: Path
    size: int
    data: ReportData

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        cases, words = self.data.cases, self.data.words
        some = f" ({counted(cases.shown)} to look at)" if cases.shown < cases.total else ""
        word = words.example if cases.total == 1 else words.examples
        return (
            f"{self.path}  {_amount(self.size)}, {counted(cases.total)} {word}{some}, opens offline"
        )

    def _repr_html_(self) -> str:
        where = html.escape(self.path.as_posix(), quote=True)
        return f'<a href="{where}">{html.escape(repr(self))}</a>'


def write_report(
    source: Source,
    path: Path | str = REPORT,
    *,
    predictions: xr.DataArray | Path | str | None = None,
    annotations: xr.Dataset | Path | str | None = None,
    plausibilities: Data | None = None,
    methods: Methods | None = None,
    alphas: Alphas | None = None,
    examples: xr.Dataset | Path | str | None = None,
    labels: xr.Dataset | Path | str | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    true: str | None = None,
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
    cluster, true : str, optional
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
    require("jinja2", extra="report", whose="the report")
    options = Options(
        title=title,
        words=sources.words_of(words),
        text=text,
        thumbnail=thumbnail,
        annotator_names=annotator_names,
    )
    groups = [by] if isinstance(by, str) else by
    said: dict[str, object] = {
        "predictions": predictions,
        "annotations": annotations,
        "plausibilities": plausibilities,
        "methods": methods,
        "alphas": alphas,
        "cluster": cluster,
        "true": true,
    }
    found = _opened(source)
    if isinstance(found, sources.Finished):
        given.only(said, (), "a study that ran: it has its own")
        subject = sources.study_subject(found, options, examples=examples, labels=labels, by=groups)
        return write_subject(subject, path)
    needed = ("predictions", "annotations or plausibilities")
    model, table, lam = given.data(predictions, annotations, plausibilities, needed)
    model = with_tables(model, examples, labels)
    if isinstance(found, ConformalPredictor):
        given.only(
            said, ("predictions", "annotations", "plausibilities", "alphas", "cluster", "true")
        )
        subject = of_predictor.subject_of(
            found,
            model,
            lam,
            table,
            attrs.evolve(options, title=title or sources.default_title("")),
            alphas=given.alphas_of((0.1,) if alphas is None else alphas),
            by=groups,
            cluster=cluster,
            true=true,
            ties=ties,
            seed=seed,
            only_common=only_common,
        )
    else:
        given.only(
            said,
            ("predictions", "annotations", "plausibilities", "methods"),
            "what compare gave: it has its own",
        )
        study = given.compared(found, model, table, lam, methods, groups)
        subject = sources.compared_subject(study, options)
    return write_subject(subject, path)


def write_subject(subject: Subject, path: Path | str) -> Report:
    """Write the report on a subject: the file is replaced when the new one is whole."""
    target = Path(path)
    check_ours(target, lambda there: holds(there, _SIGN), "an older report")
    data = gather(subject)
    # What UTF-8 cannot say, a lone half of a pair in some name, is a question mark.
    content = render(data).encode("utf-8", "replace")
    with replacing(target) as part:
        part.write_bytes(content)
    return Report(path=target, size=len(content), data=data)


def _opened(source: Source) -> sources.Finished | ConformalPredictor | xr.Dataset:
    """Return what a report is about, read where it is a file."""
    if isinstance(source, StudyResult):
        return sources.Finished.of(source)
    if isinstance(source, ConformalPredictor):
        return source
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
        got=type(source).__name__,
        do='write_report("out", "report.html"), with the folder that plausibly run wrote',
        whose="source",
    )


def _amount(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"

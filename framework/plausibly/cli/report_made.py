"""What ``plausibly report`` does: the subject of a report from files, the file, what is said."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from plausibly.cli import dry, layout, options
from plausibly.cli.output import Output
from plausibly.config.load import Draft
from plausibly.config.settings import Settings
from plausibly.conformal.load import load_predictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.extras import require
from plausibly.report import REPORT, sources
from plausibly.report.model import ReportData
from plausibly.report.subject import Options, Reported, Subject, with_tables
from plausibly.report.write import write_subject
from plausibly.study import StudyResult
from plausibly.study.reading import read_both

OF_STUDY = frozenset(
    {
        *("new.examples", "labels.path", "evaluation.by", "output.report"),
        *("report.title", "report.words", "report.text", "report.thumbnail", "report.anonymous"),
    }
)
"""Keys that mean something for a study: all else is in its file."""


def check_source(study: Path | None, loaded: Draft) -> None:
    """Raise where it is not clear what to report, or an option would change nothing."""
    require("jinja2", extra="report", whose="the report")
    if study is None:
        new = loaded.settings.new
        predicted, answered = new.predictions, new.annotations or new.plausibilities
        if not (predicted or answered or loaded.has("output.predictor")):
            raise _unclear("what to report is not said", "neither", "plausibly report out")
        if not (predicted and answered):
            path = loaded.settings.output.predictor
            do = f"plausibly report --predictor {path} -p new.csv -a new_votes.csv"
            lacking = f"no {'-a' if predicted else '-p'}"
            raise _unclear("a predictor alone is no report", lacking, do)
        options.check_answers(loaded, new=True)
        return
    if "output.predictor" in loaded.typed:
        raise _unclear("two things to report", "both", "leave one out")
    for key, (source, _) in loaded.typed.items():
        if key not in OF_STUDY:
            flag = f"--set {key}" if source == "--set" else source
            raise InputError(
                "option-unfit",
                f"{flag} has no meaning in the report of a study",
                expected="--examples, --labels, --by, --title, --anonymous, or a key of report",
                got=flag,
                do=f"leave {flag} out: the study file says it",
                whose=flag,
            )


def _unclear(what: str, got: str, do: str) -> InputError:
    return InputError(
        "report-source",
        what,
        expected="a folder or file of a study, or --predictor with -p and -a",
        got=got,
        do=do,
    )


def _options(settings: Settings) -> Options:
    """Return what the report shows besides its figures."""
    part, examples = settings.report, settings.examples.path
    return Options(
        title=part.title or "",
        words=sources.words_of(part.words),
        text=part.text or "",
        thumbnail=part.thumbnail or "",
        annotator_names=not part.anonymous,
        folder=Path() if examples is None else examples.parent,
    )


def of_study(output: Output, path: Path, loaded: Draft, *, dry_run: bool) -> None:
    """Write the report of a study that ran."""
    settings = loaded.settings.on_new_examples()
    out = settings.output.report
    examples = settings.examples.path if "new.examples" in loaded.typed else None
    labels = settings.labels.path if "labels.path" in loaded.typed else None
    by = settings.evaluation.columns if "evaluation.by" in loaded.typed else None
    chosen = _options(settings)
    with output.working(f"reading {path.name}"):
        found = sources.finished(path)
    said = {key: value for key, value in loaded.typed.items() if key != "output.report"}
    command = _command([".", "-o", out.name], loaded) if said else ""
    with output.working("writing the report"):
        chosen = attrs.evolve(chosen, command=command)
        subject = sources.study_subject(*found, chosen, examples=examples, labels=labels, by=by)
    read = {"study": path, "-e": examples, "--labels": labels}
    _write(output, subject, read, out, dry_run=dry_run)


def of_predictor(
    output: Output, loaded: Draft, files: Mapping[str, Path], *, dry_run: bool
) -> None:
    """Write the report of a predictor on new examples."""
    from plausibly.cli import promise

    settings = loaded.settings.on_new_examples()
    path, out, measure = settings.output.predictor, settings.output.report, settings.evaluation
    predictor = load_predictor(path)
    model, answers, new, lam, _ = read_both(
        settings,
        predictor=predictor,
        check=lambda model: promise.check_views(predictor, model.predictions, whose=model.source),
        working=output.working,
    )
    labels, examples, aggregator = settings.labels.path, settings.examples.path, answers.component
    facts = {
        "predictor": path.name,
        "predictions": model.source,
        answers.what: answers.source,
        "examples": examples.name if examples else "",
        "labels": labels.name if labels else "",
        "aggregator": "" if aggregator is None else layout.component(aggregator),
    }
    chosen = _options(settings)
    title = chosen.title or sources.default_title(model.source)
    with output.working("writing the report"):
        reported = Reported(
            predictions=with_tables(new, None, labels),
            plausibilities=inputs.as_plausibilities(lam),
            annotations=answers.table,
            alphas=[str(alpha) for alpha in settings.alphas],
            groups=measure.columns,
            cluster=settings.examples.cluster,
            true=measure.true_label,
            ties=measure.ties,
            seed=settings.seed,
        )
        command = _command(["--predictor", path.name, "-o", out.name], loaded)
        chosen = attrs.evolve(chosen, title=title, command=command, facts=facts)
        subject = sources.subject_of_predictor(predictor, reported, chosen)
    _write(output, subject, files, out, dry_run=dry_run)


def _write(
    output: Output,
    subject: Subject,
    read: Mapping[str, Path | None],
    out: Path,
    *,
    dry_run: bool,
) -> None:
    """Write a report, and print its verdicts and its first findings."""
    if dry_run:
        examples = several(subject.predictions.sizes[names.EXAMPLE], "example")
        dry.show(output, read=read, would=f"a report on {examples}", write=[out])
        return
    with output.working("writing the report"):
        report = write_subject(subject, out)
    data = report.data
    output.document |= {"report": report.path, "bytes": report.size, **facts(data)}
    rows: list[tuple[str, str | list[str]]] = []
    for view in data.views[: len(data.alphas)]:
        alpha = f"alpha {data.alphas[view.alpha]}: " if len(data.alphas) > 1 else ""
        rows.append(("verdict", f"{alpha}{view.verdict.sentence}"))
        rows += [
            (finding.severity, finding.sentence)
            for finding in view.verdict.findings
            if finding.severity in ("broken", "weak") and finding.sentence != view.verdict.sentence
        ]
    rows.append(("written", repr(report)))
    rows.append(("next", layout.command_line(["open", report.path], indent=10)))
    output.show(layout.fields(rows))


def after_run(output: Output, result: StudyResult) -> Path:
    """Write the report of a study that has just run, into its folder."""
    require("jinja2", extra="report", whose="the report")
    folder = result.prepared.study.output.folder
    with output.working("writing the report"):
        subject = sources.study_subject(
            result.prepared, result.compared, Options(annotator_names=True)
        )
        report = write_subject(subject, folder / REPORT)
    output.document["report"] = {"path": report.path, "bytes": report.size, **facts(report.data)}
    return report.path


_SHORT = {"--annotations": "-a", "--predictions": "-p", "--examples": "-e"}


def _command(words: Sequence[object], loaded: Draft) -> str:
    """Return the command that gives a report again: files by their names, where they lie."""
    parts: list[object] = ["plausibly", "report", *words]
    for key, (source, value) in loaded.typed.items():
        if key in ("output.report", "output.predictor"):
            continue
        source = _SHORT.get(source, source)
        if value is True:
            parts.append(source)
        elif source == "--set":
            parts += [source, f"{key}={value}"]
        else:
            is_file = key.startswith("new.") or key.endswith(".path")
            for one in value if isinstance(value, list) else [value]:
                parts += [source, Path(str(one)).name if is_file else one]
    return shlex.join(map(str, parts))


def facts(data: ReportData) -> dict[str, object]:
    """Return what a report says first, as data."""
    return {
        "title": data.title,
        "examples": data.cases.total,
        "shown": data.cases.shown,
        "views": [
            {
                "method": data.methods[view.method].name,
                "alpha": float(data.alphas[view.alpha]),
                "verdict": view.verdict.sentence,
                "findings": [
                    {
                        "severity": finding.severity,
                        "name": finding.name,
                        "sentence": finding.sentence,
                    }
                    for finding in view.verdict.findings
                ],
            }
            for view in data.views
        ],
    }

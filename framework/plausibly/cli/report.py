"""``plausibly report``: one HTML file that shows whether prediction sets can be trusted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plausibly.cli import layout, options
from plausibly.cli.output import DryRun, Output, check_path, show_dry_run
from plausibly.config.load import NAME, Draft
from plausibly.errors import InputError

if TYPE_CHECKING:
    from plausibly.config.settings import Settings
    from plausibly.report.model import ReportData
    from plausibly.report.subject import Options, Subject
    from plausibly.study import StudyResult

FLAGS = {
    "Files": "-a -p -e --plausibilities --labels --predictor -o",
    "Format of the annotations": options.FORMAT,
    "Report": "--alpha --by --cluster --title --anonymous",
}
KEYS = {**options.NEW, "-o": "output.report"}
OF_STUDY = frozenset(
    {
        *("new.examples", "labels.path", "evaluation.by", "output.report"),
        *("report.title", "report.words", "report.text", "report.thumbnail", "report.anonymous"),
    }
)
"""Keys that mean something for a study: all else is in its file."""


def report(
    output: Output,
    loaded: Draft,
    *,
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER|STUDY",
            help="What plausibly run wrote, or the study file. Instead: --predictor, -p and -a.",
        ),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    r"""Write the results to one HTML file: guarantee, coverage, weak groups, every example.

    plausibly report out -o report.html
    plausibly report study.toml --title "Skin lesions" --set report.text=finding
    plausibly report --predictor predictor.nc -p new.csv -a new_votes.csv \
      -e patients.csv --labels risk.csv --alpha 0.1,0.05
    """
    from plausibly.data.names import EXAMPLE, several
    from plausibly.extras import require
    from plausibly.report import sources
    from plausibly.report.write import build, write_subject

    require("jinja2", extra="report", source="the report")
    _check_source(study, loaded)
    read: Mapping[str, Path | None] = output.inputs
    settings = loaded.settings.on_new_examples()
    out = settings.output.report
    check_path(out, read)
    if study is None:
        subject = _of_predictor(output, loaded, settings)
    else:
        examples = settings.examples.path if "new.examples" in loaded.typed else None
        labels = settings.labels.path if "labels.path" in loaded.typed else None
        read = {"study": study, "-e": examples, "--labels": labels}
        by = settings.evaluation.columns if "evaluation.by" in loaded.typed else None
        named = loaded.typed.keys() - {"output.report"}
        command = _command([".", "-o", out.name], loaded) if named else ""
        chosen = _options(settings, command=command, title=settings.report.title or "")
        with output.working(f"reading {study.name}"):
            finished = sources.finished(study)
        with output.working("writing the report"):
            subject = sources.study_subject(
                *finished, chosen, examples=examples, labels=labels, by=by
            )
    if dry_run:
        build(subject)  # raises what the real run raises
        would = f"a report on {several(subject.predictions.sizes[EXAMPLE], 'example')}"
        show_dry_run(output, read=read, would=would, write=[out])
        return
    with output.working("writing the report"):
        written = write_subject(subject, out)
    data = written.data
    output.document |= {"report": written.path, "bytes": written.size, **_facts(data)}
    rows: list[layout.Row] = []
    for view in data.views[: len(data.alphas)]:
        alpha = f"alpha {data.alphas[view.alpha]}: " if len(data.alphas) > 1 else ""
        verdict = view.verdict
        rows.append(("verdict", f"{alpha}{verdict.sentence} {verdict.about}"))
        rows += [
            (finding.severity, f"{finding.sentence} {finding.action}".rstrip())
            for finding in verdict.findings
            if finding.sentence not in verdict.sentence
        ]
    rows.append(("saved", repr(written)))
    rows.append(("next", ("open", written.path)))
    output.rows(rows)


def _check_source(study: Path | None, loaded: Draft) -> None:
    new, found = loaded.settings.new, ""
    if study is None:
        parts = {"-p": new.predictions, "-a": new.annotations or new.plausibilities}
        found = " and ".join(f"no {flag}" for flag, path in parts.items() if path is None)
    elif study.is_file() and study.suffix.lower() != ".toml":
        found = f"{study}, which is no study"
    elif unfit := [key for key in loaded.typed if key not in OF_STUDY]:
        source = loaded.typed[unfit[0]][0]
        found = f"{study} with {f'--set {unfit[0]}' if source == '--set' else source}"
    if found:
        of_predictor = "plausibly report --predictor predictor.nc -p new.csv -a new_votes.csv"
        raise InputError(
            "report-source",
            "it is not clear what to report",
            expected="a folder or file of a study, with --examples, --labels, --by, --title, "
            "--anonymous or a key of report; or --predictor with -p and -a",
            found=found,
            hint=f"plausibly report out, or {of_predictor}",
        )
    if study is None:
        options.check_answers(loaded, new=True)


def _options(settings: Settings, **more: Any) -> Options:  # Any: each field has its own type
    from plausibly.report import sources
    from plausibly.report.subject import Options

    part, examples = settings.report, settings.examples.path
    return Options(
        words=sources.words_of(part.words),
        text=part.text or "",
        thumbnail=part.thumbnail or "",
        anonymous=part.anonymous,
        folder=Path() if examples is None else examples.parent,
        **more,
    )


def _of_predictor(output: Output, loaded: Draft, settings: Settings) -> Subject:
    from plausibly.conformal.load import load_predictor
    from plausibly.evaluation import inputs
    from plausibly.report import sources
    from plausibly.report.subject import Subject, with_tables
    from plausibly.study.reading import read_both

    path, measure = settings.output.predictor, settings.evaluation
    predictor = load_predictor(path)
    with output.working("reading files"):
        model, answers, new, plausibilities, _ = read_both(settings, predictor=predictor)
    labels, examples, aggregator = settings.labels.path, settings.examples.path, answers.component
    document = loaded.document.path
    files = {
        "settings": document.name if document else "",
        "predictor": path.name,
        "predictions": model.source,
        answers.what: answers.source,
        "examples": examples.name if examples else "",
        "labels": labels.name if labels else "",
    }
    command = _command(["--predictor", path.name, "-o", settings.output.report.name], loaded)
    title = sources.default_title("" if settings.report.anonymous else model.source)
    chosen = _options(
        settings,
        command=command,
        files=files,
        aggregator="" if aggregator is None else layout.component(aggregator),
        title=settings.report.title or title,
    )
    with output.working("writing the report"):
        data = Subject(
            predictions=with_tables(new, None, labels),
            plausibilities=inputs.as_plausibilities(plausibilities),
            annotations=answers.table,
            alphas=[str(alpha) for alpha in settings.alphas],
            options=chosen,
            groups=measure.columns,
            cluster=settings.examples.cluster,
            true_label=measure.true_label,
            ties=measure.ties,
            seed=settings.seed,
        )
        return sources.subject_of_predictor(predictor, data)


def after_run(output: Output, result: StudyResult) -> Path:
    from plausibly.extras import require
    from plausibly.report import REPORT, sources
    from plausibly.report.subject import Options
    from plausibly.report.write import write_subject

    require("jinja2", extra="report", source="the report")
    folder, chosen = result.prepared.study.output.folder, Options()
    with output.working("writing the report"):
        subject = sources.study_subject(result.prepared, result.compared, chosen)
        report = write_subject(subject, folder / REPORT)
    output.document["report"] = {"path": report.path, "bytes": report.size, **_facts(report.data)}
    return report.path


def _command(words: Sequence[object], loaded: Draft) -> str:
    """Return the command that gives a report again: files by their names, where they lie."""
    parts: list[object] = ["plausibly", "report", *words]
    if (file := loaded.document.path) is not None and file != Path(NAME):
        parts += ["--config", file.name]
    for key, (flag, value) in loaded.typed.items():
        if key in ("output.report", "output.predictor"):
            continue
        is_file = key.startswith("new.") or key.endswith(".path")
        for item in value if isinstance(value, list) else [value]:
            text = Path(str(item)).name if is_file else item
            text = f"{key}={text}" if flag == "--set" else text
            parts += [flag] if item is True else [flag, text]
    return shlex.join(map(str, parts))


_FINDING = ("severity", "name", "sentence", "action")


def _facts(data: ReportData) -> dict[str, object]:
    views = [
        {
            "method": data.methods[view.method].name,
            "alpha": float(data.alphas[view.alpha]),
            "verdict": view.verdict.sentence,
            "about": view.verdict.about,
            "findings": [
                {name: getattr(finding, name) for name in _FINDING}
                for finding in view.verdict.findings
            ],
        }
        for view in data.views
    ]
    cases = data.cases
    return {"title": data.title, "examples": cases.total, "shown": cases.shown, "views": views}

"""What ``plausibly report`` does: the subject of a report from files, the file, what is said."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from plausibly.calibration.alphas import read_alphas
from plausibly.cli import dry, layout, matching
from plausibly.cli.asked import AskedOpinions, AskedPredictions, Naming
from plausibly.cli.output import Output
from plausibly.conformal.load import load_predictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.extras import require
from plausibly.report import REPORT, sources
from plausibly.report.model import ReportData
from plausibly.report.options import Options, facts_of, with_tables
from plausibly.report.subject import Reported, Subject
from plausibly.report.write import Report, write_subject
from plausibly.study import StudyResult

OF_STUDY = frozenset(
    {"-e", "--labels", "--by", "--title", "--words", "--text", "--thumbnail", "--annotator-names"}
)
"""Options that mean something for a study: all else is in its file."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judging:
    """How the sets of a predictor are judged; as in `plausibly.evaluate`."""

    alphas: tuple[str, ...]
    by: Sequence[str] | None
    cluster: str | None
    true: str | None
    ties: str
    seed: int
    only_common: bool


def check_source(study: Path | None, predictor: Path | None, said: Mapping[str, object]) -> None:
    """Raise where it is not clear what to report, or an option would change nothing."""
    require("jinja2", extra="report", whose="the report")
    lacking = "-p" if not said["-p"] else "-a"
    without = not (said["-p"] and (said["-a"] or said["--plausibilities"]))
    if (study is None) == (predictor is None) or (predictor is not None and without):
        what, got, do = "what to report is not said", "neither", "plausibly report out"
        if study is not None:
            what, got, do = "two things to report", "both", "leave one out"
        elif predictor is not None:
            what, got = "a predictor alone is no report", f"no {lacking}"
            do = f"plausibly report --predictor {predictor} -p new.csv -a new_votes.csv"
        raise InputError(
            "report-source",
            what,
            expected="a folder or file of a study, or --predictor with -p and -a",
            got=got,
            do=do,
        )
    unfit = [flag for flag, value in said.items() if value and flag not in OF_STUDY]
    if study is not None and unfit:
        raise InputError(
            "option-unfit",
            f"{unfit[0]} has no meaning in the report of a study",
            expected=f"one of {', '.join(sorted(OF_STUDY))}",
            got=unfit[0],
            do=f"leave {unfit[0]} out: the study file says it",
            whose=unfit[0],
        )


def of_study(
    output: Output,
    path: Path,
    options: Options,
    *,
    examples: Path | None,
    labels: Path | None,
    by: Sequence[str] | None,
    said: Mapping[str, object],
    out: Path,
    dry_run: bool,
) -> None:
    """Write the report of a study that ran."""
    with output.working(f"reading {path.name}"):
        found = sources.finished(path)
    command = ""
    if any(said.values()):
        command = _command([".", "-o", out.name], said)
    with output.working("writing the report"):
        options = attrs.evolve(options, command=command)
        subject = sources.study_subject(*found, options, examples=examples, labels=labels, by=by)
        report = None if dry_run else write_subject(subject, out)
    if report is not None:
        say(output, report)
    else:
        _would(output, subject, {"study": path, "-e": examples, "--labels": labels}, out)


def of_predictor(
    output: Output,
    path: Path,
    asked_model: AskedPredictions,
    asked_opinions: AskedOpinions,
    naming: Naming,
    options: Options,
    judging: Judging,
    *,
    said: Mapping[str, object],
    out: Path,
    dry_run: bool,
) -> None:
    """Write the report of a predictor on new examples."""
    read_alphas(list(judging.alphas))
    ties = inputs.check_ties(judging.ties)
    predictor = load_predictor(path)
    model, opinions, new, lam, _ = matching.read_both(
        output,
        asked_opinions,
        asked_model,
        naming,
        only_common=judging.only_common,
        predictor=predictor,
    )
    aggregator = opinions.aggregator
    facts = {
        "predictor": path.name,
        "predictions": model.whose,
        asked_opinions.what: opinions.whose,
        "examples": asked_model.examples.name if asked_model.examples else "",
        "labels": naming.labels.name if naming.labels else "",
        "aggregator": "" if aggregator is None else layout.component(aggregator),
    }
    title = options.title or sources.default_title(model.whose)
    with output.working("writing the report"):
        reported = Reported(
            predictions=with_tables(new, None, naming.labels),
            plausibilities=inputs.as_plausibilities(lam),
            annotations=opinions.table,
            alphas=list(judging.alphas),
            groups=judging.by,
            cluster=judging.cluster,
            true=judging.true,
            ties=ties,
            seed=judging.seed,
        )
        command = _command(["--predictor", path.name, "-o", out.name], said)
        options = attrs.evolve(options, title=title, command=command, facts=facts_of(facts))
        subject = sources.subject_of_predictor(predictor, reported, options)
        report = None if dry_run else write_subject(subject, out)
    files = {
        "--predictor": path,
        "-p": asked_model.path,
        asked_opinions.flag: asked_opinions.path,
        "-e": asked_model.examples,
        "--labels": naming.labels,
    }
    if report is not None:
        say(output, report)
    else:
        _would(output, subject, files, out)


def _would(output: Output, subject: Subject, read: Mapping[str, Path | None], out: Path) -> None:
    """Say what would be written."""
    examples = several(subject.predictions.sizes[names.EXAMPLE], "example")
    dry.show(output, read=read, would=f"a report on {examples}", write=[out])


def after_run(output: Output, result: StudyResult) -> Path:
    """Write the report of a study that has just run, into its folder."""
    require("jinja2", extra="report", whose="the report")
    folder = result.prepared.study.output.folder
    with output.working("writing the report"):
        subject = sources.study_subject(result.prepared, result.compared, Options())
        report = write_subject(subject, folder / REPORT)
    output.document["report"] = {"path": report.path, "bytes": report.size, **facts(report.data)}
    return report.path


def _command(words: Sequence[object], said: Mapping[str, object]) -> str:
    """Return the command that gives a report again: files by their names, where they lie."""
    parts: list[object] = ["plausibly", "report", *words]
    for flag, value in said.items():
        if value is True:
            parts.append(flag)
        elif value:
            each = value if isinstance(value, list) else [value]
            for one in each:
                parts += [flag, one.name if isinstance(one, Path) else one]
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


def rows(data: ReportData) -> list[tuple[str, str | list[str]]]:
    """Return what a report says first, as lines: of its first method."""
    found: list[tuple[str, str | list[str]]] = []
    for view in data.views[: len(data.alphas)]:
        several = f"alpha {data.alphas[view.alpha]}: " if len(data.alphas) > 1 else ""
        found.append(("verdict", f"{several}{view.verdict.sentence}"))
        found += [
            (finding.severity, finding.sentence)
            for finding in view.verdict.findings
            if finding.severity in ("broken", "weak") and finding.sentence != view.verdict.sentence
        ]
    return found


def say(output: Output, report: Report) -> None:
    """Say what was written, and what it says first."""
    output.document |= {
        "report": report.path,
        "bytes": report.size,
        **facts(report.data),
    }
    output.show(
        layout.fields(
            [
                *rows(report.data),
                ("written", repr(report)),
                ("next", layout.command_line(["open", report.path], indent=10)),
            ]
        )
    )

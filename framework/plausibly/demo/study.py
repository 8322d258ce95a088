"""The study of the demo: its methods, table, figure, and files."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any  # Any below: objects of matplotlib, which may not be installed

import attrs
import numpy as np
import xarray as xr

from plausibly.atomic import check_ours, replacing, unwritable
from plausibly.config.document import toml_text
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.demo.subjects import Subject, percent
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import METHOD, SPLIT, Progress, compare
from plausibly.extras import require
from plausibly.io import write_plausibilities, write_sets
from plausibly.kernels.random import Keys, hash_names
from plausibly.palette import INK
from plausibly.plots.sets import GUARANTEED, NOTHING, VACUOUS, draw_rows, legend_of


@attrs.frozen(kw_only=True)
class Figures:
    """Means over the splits of one method."""

    aggregated: float
    voted: float
    true: float
    size: float
    level: float


def figures(study: xr.Dataset, method: str) -> Figures:
    """Return the means over splits of a method, at the demo's alpha."""
    one = study.sel({METHOD: method}).isel({names.ALPHA: 0})
    means = {
        short: float(one[name].mean(SPLIT)) if name in one else float("nan")
        for short, name in (
            ("aggregated", "aggregated_coverage"),
            ("voted", "voted_coverage"),
            ("true", "true_coverage"),
            ("size", "set_size"),
        )
    }
    return Figures(**means, level=float(one["guaranteed_level"]))


def design(subject: Subject, splits: int, seed: int) -> str:
    """Return what is done, before it is done."""
    halves = f"{counted(splits)} random {'half' if splits == 1 else 'halves'}"
    by = "" if subject.group is None else f" by {subject.group}"
    return f"{subject.fitted}; {halves}{by}, alpha {ALPHA}, {DRAWS} draws, seed {seed}"


def meaning(result: Result) -> list[str]:
    """Return the paragraphs below the table: what it says, and under which condition."""
    nouns = result.subject.nouns
    voted, expected = (figures(result.study, name) for name in (VOTED, EXPECTED))
    told = (
        f"Calibrated on votes, {_sets()} miss {percent(1 - voted.aggregated)} of {nouns.said}; on "
        f"{nouns.everything} they miss {percent(1 - expected.aggregated)}, "
        f"{_labels_more(expected.size - voted.size)} a {nouns.example}."
    )
    if not np.isnan(voted.true):
        told += (
            f" Of the true labels, which real data hide, they miss {percent(1 - voted.true)} and "
            f"{percent(1 - expected.true)}."
        )
    return [
        f"Aggregated coverage: the share of {nouns.share} that its set contains.",
        f"{told} Start with {EXPECTED.partition(' ')[0]}.",
        f"Guaranteed: on average over new {nouns.examples}, if {nouns.examples} are exchangeable. "
        f"{_condition(result)}",
    ]


def readme_table(result: Result) -> str:
    """Return the short table of the README, with its last line: what is guaranteed, and if what."""
    about = f"{_sets()} for {counted(len(result.subject))} {result.subject.nouns.examples}"
    lines = [f"{about:<32}{'covers ratings':<17}{'labels a set':<16}guaranteed"]
    for title, method in (("votes", VOTED), (result.subject.nouns.everything, EXPECTED)):
        found = figures(result.study, method)
        level = "nothing" if np.isnan(found.level) else percent(found.level)
        covered, size = percent(found.aggregated), f"{found.size:.1f}"
        lines.append(f"{f'calibrated on {title}':<37}{covered:<17}{size:<12}{level}")
    lines.append(
        "guaranteed: on average over new cases, if they are exchangeable with the calibration cases"
    )
    return "\n".join(lines)


def _condition(result: Result) -> str:
    """Return how well the data keep to the condition of the guarantee."""
    subject = result.subject
    groups, nouns = subject.groups, subject.nouns
    if groups is None or result.alone is None:
        return f"Here they are: {nouns.examples} are drawn independently."
    sizes = np.unique(groups, return_counts=True)[1]
    alone = figures(result.alone, EXPECTED)
    return (
        f"{counted(int((sizes > 1).sum()))} of {counted(len(sizes))} {subject.group}s have "
        f"several, which may be alike: no {subject.group} is on two sides, and with one "
        f"{nouns.example} a {subject.group} {EXPECTED.partition(' ')[0]} covers "
        f"{decimal(alone.aggregated)}. The promise is for the models of the folds: one refitted to "
        f"all {nouns.examples} is another, to be calibrated on {nouns.examples} that it has not "
        "seen."
    )


def _sets() -> str:
    """Return what the sets are called after their alpha: ``90 % sets``."""
    return f"{percent(1 - float(ALPHA))} sets"


def _labels_more(difference: float) -> str:
    """Return how much larger sets are, in words."""
    text = f"{abs(difference):.1f}"
    if float(text) == 0:
        return "for as many labels"
    return f"for {text} {'more' if difference > 0 else 'fewer'} labels"


STUDY = "study.toml"
FOLDER = "study"


def study_text(subject: Subject, splits: int, seed: int) -> str:
    """Return the study file of a demo, whose results are those of the demo."""
    said = opinions(subject)
    what: dict[str, object] = (
        {"annotations": {"path": said, "reader": "counts"}}
        if said == VOTES
        else {"plausibilities": {"path": said}}
    )
    calibrations: list[dict[str, object]] = []
    # The first calibration makes the predictor, which should be the one to start with.
    for name in sorted(METHODS, key=lambda name: name != EXPECTED):
        table: dict[str, object] = dict(METHODS[name])
        draws = table.pop("draws", None)
        if draws is not None:
            table["calibrator"] = {"name": table["calibrator"], "draws": draws}
        calibrations.append({"name": name, **table})
    parts: dict[str, object] = {"count": splits, "test": TEST}
    examples: dict[str, object] = {}
    if subject.group is not None:
        examples = {"examples": {"path": f"{subject.group}s.csv"}}
        parts["group"] = subject.group
    return toml_text(
        {"seed": seed, "alphas": [Decimal(ALPHA)]}
        | what
        | {"predictions": {"path": PREDICTIONS}}
        | examples
        | {"calibrations": calibrations, "splits": parts, "output": {"folder": FOLDER}}
    )


def _splits_of(path: Path) -> int:
    """Return how many splits an older study file asks for; 0 where that cannot be told."""
    try:
        return int(tomllib.loads(path.read_text(encoding="utf-8"))["splits"]["count"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def write_study_file(subject: Subject, folder: Path, *, splits: int, seed: int) -> str:
    """Write the study file beside the data, and return its name."""
    path, text = folder / STUDY, study_text(subject, splits, seed)
    check_unedited(path, text.encode(), study_text(subject, _splits_of(path), seed).encode())
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return STUDY


__all__ = ["GUARANTEED", "NOTHING", "PANELS", "VACUOUS", "draw", "drawing", "write_figure"]

PANELS = {
    "aggregated_coverage": ("aggregated coverage", ".3f"),
    "set_size": ("labels in a prediction set", ".2f"),
}
"""What is drawn: the title of the axis, and how its means are written."""


def drawing() -> ModuleType:
    """Return matplotlib's figures."""
    return require("matplotlib.figure", extra="demo", whose="plausibly demo")


def write_figure(result: Result, path: Path) -> None:
    """Draw the study's figure and write it as PNG."""
    drawn = draw(result)
    with replacing(path) as part:
        # No version of matplotlib inside: the same figures give the same file.
        drawn.savefig(part, format="png", dpi=150, metadata={"Software": None})


def draw(result: Result) -> Any:  # Any: a Figure of matplotlib, which may not be installed
    """Return the figure: a row a method, a dot a split, and the middle 90 % of the splits."""
    study = result.study.isel({names.ALPHA: 0})
    drawn = drawing().Figure(figsize=(10, 5), layout="constrained")
    panels = drawn.subplots(1, len(PANELS), sharey=True)
    methods = [study.isel({METHOD: row}) for row in range(study.sizes[METHOD])]
    for panel, (measure, (title, form)) in zip(panels, PANELS.items(), strict=True):
        draw_rows(panel, methods, measure, form)
        panel.set_xlabel(title)
    first, second = panels
    first.set_yticks(range(len(methods)), [str(name) for name in study[METHOD].values])
    first.set_ylim(len(methods) - 0.5, -0.75)
    wanted = 1 - float(study[names.ALPHA])
    least = float(study["aggregated_coverage"].min())
    first.set_xlim(min(least, wanted) - 0.02, 1.02)
    first.locator_params(axis="x", nbins=6)
    first.axvline(wanted, color=INK, linestyle="--", linewidth=1.2, zorder=1)
    first.set_title(f"wanted: {wanted:g}", x=_share_of(first, wanted), fontsize=10, color=INK)
    second.set_xlim(0, result.study.attrs["labels"] * 1.06)
    drawn.legend(
        handles=legend_of(methods, INK),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    nouns = result.subject.nouns
    halves = (
        f"{counted(study.sizes[SPLIT])} random {'half' if study.sizes[SPLIT] == 1 else 'halves'}"
    )
    by = "" if result.subject.group is None else f" by {result.subject.group}"
    drawn.suptitle(
        f"{100 * wanted:g} % sets for {counted(len(result.subject))} {nouns.examples}, on "
        f"{halves}{by}",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    return drawn


def _share_of(panel: Any, value: float) -> float:  # Any: as above
    """Return where on a panel's axis a value lies, from 0 to 1."""
    low, high = panel.get_xlim()
    return float((value - low) / (high - low))


ALPHA = "0.1"
DRAWS = 10
TEST = 0.5
VOTED = "voted"
EXPECTED = "expected (default)"

METHODS: Mapping[str, MethodTable] = {
    VOTED: {"calibrator": "voted"},
    **{
        f"monte-carlo, {combiner}": {
            "calibrator": "monte-carlo",
            "combiner": combiner,
            "draws": DRAWS,
        }
        for combiner in ("average", "maximum", "held-out-rank", "ecdf")
    },
    EXPECTED: {"calibrator": "expected"},
}


@attrs.frozen(kw_only=True, eq=False)
class Result:
    """A demo that has run."""

    subject: Subject
    study: xr.Dataset
    alone: xr.Dataset | None
    sets: xr.DataArray


def run(subject: Subject, *, splits: int, seed: int, progress: Progress | None = None) -> Result:
    """Return the demo's study."""
    study = compare(
        subject.predictions,
        subject.plausibilities,
        METHODS,
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        group=subject.group,
        seed=seed,
        true=subject.true,
        progress=progress,
    )
    return Result(
        subject=subject,
        study=study,
        alone=_alone(subject, splits, seed),
        sets=first_sets(subject, seed),
    )


def first_sets(subject: Subject, seed: int) -> xr.DataArray:
    """Return the prediction sets of the first split's test examples, as the study made them."""
    hashes = hash_names(subject.predictions[names.EXAMPLE].values)
    test = split(hashes, split_keys(seed, 0), test=TEST, groups=subject.groups)
    predictor = calibrate(
        subject.predictions[~test],
        subject.plausibilities[~test],
        seed=split_seed(seed, 0),
        group=subject.group,
    )
    return predictor.predict(subject.predictions[test], ALPHA)


def _alone(subject: Subject, splits: int, seed: int) -> xr.Dataset | None:
    """Return the study with one example of each group, drawn by the examples' keys."""
    if subject.groups is None:
        return None
    hashes = hash_names(subject.predictions[names.EXAMPLE].values)
    order = np.argsort(Keys(seed, "demo/alone").uniform(hashes)[:, 0], kind="stable")
    _, first = np.unique(subject.groups[order], return_index=True)
    kept = np.sort(order[first])
    return compare(
        subject.predictions[kept],
        subject.plausibilities[kept],
        {EXPECTED: METHODS[EXPECTED]},
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        seed=seed,
    )


FIGURE = "coverage.png"
SETS = "sets.csv"
PREDICTIONS = "probabilities.csv"
VOTES = "votes.csv"
PLAUSIBILITIES = "plausibilities.csv"


def make_folder(folder: Path) -> None:
    """Make the folder of the demo, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise unwritable(folder, reason) from reason


def write_data(subject: Subject, folder: Path) -> list[str]:
    """Write predictions, what experts said, and the groups of the examples."""
    lam, model = subject.plausibilities, subject.predictions
    examples = [str(name) for name in model[names.EXAMPLE].values]
    labels = [str(name) for name in model[names.LABEL].values]
    said = opinions(subject)
    if said == VOTES:
        votes = (lam * lam[names.DENOMINATOR]).round().astype(int)
        _write_table(folder / VOTES, [names.EXAMPLE, *labels], examples, _texts(votes))
    else:
        with replacing(folder / PLAUSIBILITIES) as part:
            write_plausibilities(lam, part)
            check_unedited(folder / PLAUSIBILITIES, part.read_bytes())
    _write_table(folder / PREDICTIONS, [names.EXAMPLE, *labels], examples, _texts(model))
    written = [said, PREDICTIONS]
    if subject.group is not None and subject.groups is not None:
        written.append(f"{subject.group}s.csv")
        groups = [[group] for group in subject.groups]
        _write_table(folder / written[-1], [names.EXAMPLE, subject.group], examples, groups)
    return written


def opinions(subject: Subject) -> str:
    """Return the name of the file of what experts said."""
    return VOTES if names.DENOMINATOR in subject.plausibilities.coords else PLAUSIBILITIES


def write_result(result: Result, folder: Path, *, figure: bool) -> list[str]:
    """Write the prediction sets of the first split, their guarantee, and the figure."""
    written = []
    if figure:
        write_figure(result, folder / FIGURE)
        written.append(FIGURE)
    write_sets(result.sets, folder / SETS)
    return [*written, SETS, Path(SETS).with_suffix(".json").name]


def _texts(array: xr.DataArray) -> list[list[str]]:
    """Return every number in the shortest text that reads back as the same."""
    return [[repr(value) for value in row] for row in array.values.tolist()]


def _write_table(
    path: Path, header: Sequence[str], examples: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([name, *row] for name, row in zip(examples, rows, strict=True))
    content = file.getvalue().encode()
    check_unedited(path, content)
    with replacing(path) as part:
        part.write_bytes(content)


def check_unedited(path: Path, *contents: bytes) -> None:
    """Raise ``output-occupied`` where a file holds something else: it may have been edited."""
    check_ours(
        path,
        lambda there: there.read_bytes() in contents,
        "what this demo writes there",
        do=f"-o {path.parent}-2",
    )

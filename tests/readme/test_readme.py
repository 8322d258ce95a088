"""The README: its commands, Python, tables, files and first screen, on the files of `example`."""

from __future__ import annotations

import re
import tomllib
import warnings
from pathlib import Path

import attrs
import pytest
import xarray as xr

import plausibly
from cli_world import run
from plausibly.demo import study, subjects
from plausibly.errors import PlausiblyWarning
from readme_world import blocks, commands, indented, rows


@pytest.fixture(scope="session")
def readme(project: Path) -> str:
    return (project / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run("example").code == 0
    return tmp_path


def test_every_command_runs_in_the_order_of_the_page(readme: str, folder: Path) -> None:
    typed = commands(readme)
    assert [words[0] for words in typed] == ["calibrate", "predict", "evaluate"]
    for words in typed:
        ran = run(*words)
        assert (ran.code, ran.err) == (0, ""), words
        assert ran.out
    assert {"predictor.nc", "sets.csv", "sets.json"} <= {path.name for path in folder.iterdir()}
    assert run("init").code == 0


def test_the_python_block_runs_and_covers(
    readme: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = blocks(readme, "python")
    assert len([line for line in block.splitlines() if line]) == 7
    scope: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), scope)  # the block itself is what is tested
    predictor = scope["predictor"]
    assert isinstance(predictor, plausibly.ConformalPredictor)
    guarantee = f"{predictor.guarantee(0.1)}\n"
    printed = capsys.readouterr().out
    assert printed.startswith(guarantee)
    sets = scope["sets"]
    assert isinstance(sets, xr.DataArray)
    answers = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    inside = sets.sel(label=answers.label, example=answers.example)
    coverage = float((inside * answers).sum("label").mean())
    assert f" {coverage:.3f} " in printed.removeprefix(guarantee)
    assert f" {float(sets.sum('label').mean()):.2f}\n" in printed


def test_the_files_shown_are_those_of_the_example(readme: str, folder: Path) -> None:
    shown = next(block for block in blocks(readme, "text") if block.startswith("example,"))
    columns = [re.split(r" {2,}", line) for line in shown.splitlines()]
    for place, name in enumerate(("votes.csv", "probabilities.csv")):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        assert [line[place] for line in columns] == lines[:4]


def test_extras_are_those_of_the_package(project: Path) -> None:
    package = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    declared = package["project"]["optional-dependencies"]
    page = (project / "docs" / "install.md").read_text(encoding="utf-8")
    table = {row[0].strip("`"): row[2] for row in rows(page, "extra")}
    assert list(table) == list(declared)
    for extra, brings in table.items():
        packages = {re.split(r"[\[<>=]", entry)[0] for entry in declared[extra]}
        if extra == "all":
            (everything,) = declared["all"]
            every = set(table) - {"all", "crowd", "torch"}  # large
            assert set(re.split(r"[\[\],]", everything)) - {"plausibly", ""} == every
        else:
            assert set(brings.split(", ")) == packages


SPLITS, SEED = 100, 1

# Aggregated coverage and set size, computed independently on these ratings with another model fit
# and splits by nodule.
KNOWN = {
    study.VOTED: (0.857, 2.22),
    "10 drawn answers (monte-carlo)": (0.900, 2.52),
    "10 drawn, maximum": (0.913, 2.63),
    "10 drawn, ecdf": (1.0, 5.0),
    study.EXPECTED: (0.899, 2.51),
}


@pytest.mark.slow
def test_the_first_screen_is_what_the_demo_finds(project: Path) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    first_screen = readme.partition("\n## ")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        result = study.run(
            subjects.load("nodules", SEED), splits=SPLITS, seed=SEED, methods=study.EVERY
        )

    short = attrs.evolve(result, study=result.study.sel({"method": list(study.METHODS)}))
    assert "\n".join(study.table(short)) in indented(first_screen)

    prose = " ".join(first_screen.split())
    voted = study.figures(result.study, study.VOTED)
    expected = study.figures(result.study, study.EXPECTED)
    numbers = re.search(
        r"On ([\d,]+) lung nodules, graded by three or four radiologists each, the "
        r"resulting (\d+)% sets contain the majority vote for (\d+)% of the nodules, but only "
        r"(\d+)% of the radiologists' answers\. Calibrated on all answers, they contain (\d+)%\.",
        prose,
    )
    assert numbers is not None
    assert [int(number.replace(",", "")) for number in numbers.groups()] == [
        len(result.subject),
        100 - round(100 * float(study.ALPHA)),
        round(100 * voted["majority_vote_coverage"]),
        round(100 * voted["aggregated_coverage"]),
        round(100 * expected["aggregated_coverage"]),
    ]

    for name, (coverage, size) in KNOWN.items():
        item = study.figures(result.study, name)
        assert item["aggregated_coverage"] == pytest.approx(coverage, abs=0.005), name
        assert item["set_size"] == pytest.approx(size, abs=0.03), name
    # The rank among one nodule of each of 172 held-out patients is a guarantee on new patients.
    ranked = result.study.sel({"method": "10 drawn, held-out-rank"})
    assert float(ranked["cluster_coverage"].mean()) == pytest.approx(156 / 173, abs=0.005)
    means = result.study["aggregated_coverage"].mean("split")[:, 0]
    below = (means < 0.98 * (1 - means["alpha"])) & result.study["guaranteed_level"][:, 0].isnull()
    assert [str(name) for name in below["method"][below].values] == [study.VOTED]
    assert bool(result.study.sel({"method": "10 drawn, ecdf"})["vacuous"].all())

"""Everything that the README says can be done is done here, on files like those it names."""

from __future__ import annotations

import re
import tomllib
from configparser import ConfigParser
from importlib.metadata import distribution
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import plausibly
from cli_world import run
from plausibly import registry
from plausibly.errors import InputError
from plausibly.protocols import CALIBRATOR, COMBINER
from readme_world import LABELS, blocks, commands, indented, links, rows, write_files

SET_UP = """\
pip install ".[demo]" && plausibly demo     # real ratings, runs offline, under 90 seconds
pip install tox && tox                      # every claim on this page, tested on your machine"""


@pytest.fixture(scope="session")
def readme(project: Path) -> str:
    return (project / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def facts(project: Path) -> dict[str, Any]:  # Any: whatever TOML holds
    return tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_commands_set_everything_up(
    readme: str,
    facts: dict[str, Any],  # Any: as above
    project: Path,
) -> None:
    assert indented(readme)[0] == SET_UP
    assert "plausibly" in facts["project"]["scripts"]
    extra = " ".join(facts["project"]["optional-dependencies"]["demo"])
    assert "scikit-learn" in extra
    assert "matplotlib" in extra
    tox = ConfigParser()
    tox.read(project / "tox.ini", encoding="utf-8")
    assert {"lint", "type", "py{311,312,313}"} <= set(tox["tox"]["env_list"].split())
    assert "pytest" in tox["testenv"]["commands"]
    assert tox["testenv"]["package"] == "wheel"
    # CI runs the README's own line.
    assert "pip install tox && tox" in (project / ".ci" / "run").read_text(encoding="utf-8")


def test_every_command_runs_in_the_order_of_the_page(readme: str, folder: Path) -> None:
    asked = commands(readme)
    assert [words[0] for words in asked][:3] == ["calibrate", "predict", "evaluate"]
    assert len(asked) == 9
    predicted = 0
    for words in asked:
        ran = run(*words)
        assert ran.code == 0, (words, ran.err)
        assert ran.out
        predicted += words[0] == "predict"
        again = words[0] == "predict" and predicted == 2  # other sets in the place of the first
        assert ran.err == ("replaced  sets.csv, sets.json\n" if again else ""), words
    assert {"predictor.nc", "careful.nc", "sets.csv", "sets.json", "plausibilities.csv"} <= {
        path.name for path in folder.iterdir()
    }


def test_the_python_block_runs_and_covers(
    readme: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = blocks(readme, "python")
    assert len([line for line in block.splitlines() if line]) == 8
    scope: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), scope)  # the block itself is what is tested
    guarantee, _, last = capsys.readouterr().out.rstrip().rpartition("\n")
    predictor = scope["predictor"]
    assert isinstance(predictor, plausibly.ConformalPredictor)
    assert guarantee == str(predictor.guarantee(0.1))
    found = re.fullmatch(r"covers (0\.\d{3}) with (\d\.\d{2}) labels a set", last)
    assert found is not None
    sets = scope["sets"]
    assert isinstance(sets, xr.DataArray)
    votes = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    inside = sets.sel(label=votes.label, example=votes.example)
    assert float(found[1]) == pytest.approx(float((inside * votes).sum("label").mean()), abs=6e-4)
    assert float(found[2]) == pytest.approx(float(sets.sum("label").mean()), abs=6e-3)


def test_prose_about_python_holds(folder: Path) -> None:
    predictor = plausibly.calibrate(
        plausibly.read_predictions("probabilities.csv"), plausibly.read_annotations("votes.csv")
    )
    new = plausibly.read_predictions("new.csv")
    several = predictor.predict(new, [0.1, 0.05])
    assert several.sizes["alpha"] == 2
    assert (
        predictor.predict(new[::-1, ::-1], 0.1)
        .reindex_like(new)
        .equals(predictor.predict(new, 0.1))
    )
    predictor.save("predictor.nc")
    again = plausibly.load_predictor("predictor.nc")
    assert again.predict(new, 0.1).equals(predictor.predict(new, 0.1))


def test_the_files_shown_are_files_that_are_read(readme: str, tmp_path: Path) -> None:
    shown = next(block for block in blocks(readme, "text") if block.startswith("task,worker"))
    columns = [re.split(r" {2,}", line) for line in shown.splitlines()]
    votes = [line[0] for line in columns]
    model = [line[1] for line in columns if len(line) > 1]
    for name, lines in (("votes.csv", votes), ("probabilities.csv", model)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = plausibly.read_annotations(tmp_path / "votes.csv", labels=LABELS)
    predictions = plausibly.read_predictions(tmp_path / "probabilities.csv")
    assert tuple(predictions.label.values) == LABELS
    assert set(predictions.example.values) == set(found.example.values) == {"scan_1", "scan_2"}


def test_the_guarantee_shown_is_the_one_that_is_printed(readme: str, folder: Path) -> None:
    predictor = plausibly.calibrate(
        plausibly.read_predictions("probabilities.csv"), plausibly.read_annotations("votes.csv")
    )
    shown = next(block for block in blocks(readme, "text") if block.startswith("P(Y"))
    assert shown == f"{predictor.guarantee(0.1)}\n"


def test_the_table_of_methods_states_what_they_guarantee(
    project: Path, readme: str, folder: Path
) -> None:
    table = rows(readme, "calibrator")
    calibrators = {entry.name for entry in registry.default().entries(CALIBRATOR)}
    combiners = {entry.name for entry in registry.default().entries(COMBINER)}
    # Those that are not in the table have pages of their own.
    for column, known in enumerate((calibrators, combiners)):
        named = {row[column].strip("`") for row in table}
        assert named <= known
        of = "combiners" if column else "calibrators"
        page = (project / "docs" / f"{of}.md").read_text(encoding="utf-8")
        assert not [name for name in known - named if f"`{name}`" not in page]
    predictions = plausibly.read_predictions("probabilities.csv")
    votes = plausibly.read_annotations("votes.csv")
    alpha, delta = 0.1, 1e-4
    levels = {
        "1 - alpha": 1 - alpha,
        "1 - alpha/2": 1 - alpha / 2,
        "(1 - alpha)(1 - delta)": (1 - alpha) * (1 - delta),
    }
    for calibrator, combiner, promised, _ in table:
        promise = plausibly.calibrate(
            predictions, votes, calibrator=calibrator.strip("`"), combiner=combiner.strip("`")
        ).guarantee(alpha)
        level, _, confidence = promised.partition(", with probability ")
        if level.startswith("nothing"):
            assert promise.short() == "nothing"
            assert promise.level == pytest.approx(1 - alpha)
            continue
        assert promise.target == "aggregated"
        assert promise.level == pytest.approx(levels[level]), (calibrator, combiner)
        assert (promise.confidence is None) == (not confidence)
        if confidence:
            assert promise.confidence == pytest.approx(1 - delta)


def test_the_first_choice_is_the_default(readme: str) -> None:
    # The README calls expected with average the first choice: it is the default of both.
    first = rows(readme, "calibrator")[0]
    assert [cell.strip("`") for cell in first[:2]] == ["expected", "average"]
    parameters = signature(plausibly.calibrate).parameters
    assert [parameters[kind].default for kind in ("calibrator", "combiner")] == [
        "expected",
        "average",
    ]


def test_extras_are_those_of_the_package(
    readme: str,
    facts: dict[str, Any],  # Any: as above
) -> None:
    declared = facts["project"]["optional-dependencies"]
    table = {row[0].strip("`"): row[2] for row in rows(readme, "extra")}
    assert list(table) == list(declared)
    for extra, brings in table.items():
        packages = {re.split(r"[\[<>=]", entry)[0] for entry in declared[extra]}
        if extra == "all":
            (everything,) = declared["all"]
            every = set(table) - {"all", "crowd", "torch"}  # large
            assert set(re.split(r"[\[\],]", everything)) - {"plausibly", ""} == every
        else:
            assert set(brings.split(", ")) == packages


def test_links_lead_somewhere(readme: str, project: Path) -> None:
    local = [link for link in links(readme) if not link.startswith("https://")]
    assert {"docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"} <= set(local)
    for link in local:
        assert (project / link).is_file(), link


def test_licence_and_version_are_those_of_the_package(
    readme: str,
    facts: dict[str, Any],  # Any: as above
    project: Path,
) -> None:
    assert f"licensed under [{facts['project']['license']}](LICENSE)" in readme
    assert "Apache License" in (project / "LICENSE").read_text(encoding="utf-8")
    data = (project / "framework/plausibly/demo/data/README.md").read_text(encoding="utf-8")
    for source in ("10.1118/1.3528204", "https://creativecommons.org/licenses/by/3.0/"):
        assert source in readme
        assert source in data
    thanks = "National Cancer Institute and the Foundation for the National Institutes of Health"
    assert thanks in " ".join(readme.split())


def test_errors_are_said_as_promised(folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        plausibly.read_predictions("probabilitis.csv")
    fields = caught.value.fields()
    # What is wrong, whose it is, what was expected, what was there, and what to type.
    assert all(fields[part] for part in ("what", "whose", "expected", "got", "do"))
    assert "probabilities.csv" in str(fields["do"])


def test_nothing_that_is_asked_for_by_name_is_needed(facts: dict[str, Any]) -> None:  # Any: TOML
    needed = {re.split(r"[<>=]", entry)[0] for entry in facts["project"]["dependencies"]}
    assert not needed & {"matplotlib", "scikit-learn", "pyarrow", "netCDF4", "zarr"}
    assert all(distribution(name).version for name in needed)

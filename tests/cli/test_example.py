"""``plausibly example``: the files on which the pages try the commands."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cli_world import done, refused
from plausibly.cli.example import FILES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_calibration_and_new_examples_share_no_patient() -> None:
    done("example")
    names = [{row["example"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    patients = [{row["patient"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    assert [len(known) for known in (*names, *patients)] == [300, 200, 171, 114]
    assert not names[0] & names[1]
    assert not patients[0] & patients[1]
    for part, known in zip(("", "new_"), names, strict=True):
        assert {row["example"] for row in rows(f"{part}votes.csv")} == known
        assert {row["example"] for row in rows(f"{part}probabilities.csv")} == known


def test_votes_cover_less_of_the_answers_than_all_answers() -> None:
    done("example")
    coverage = {}
    inputs = "-a votes.csv -p probabilities.csv"
    for name in ("expected", "majority-vote"):
        done(f"calibrate {inputs} --calibrator {name} -o {name}.nc")
        done(f"predict {name}.nc -p new_probabilities.csv --alpha 0.1 -o {name}.csv")
        measured = done(f"evaluate {name}.csv -a new_votes.csv --json").document
        coverage[name] = measured["results"][0]["aggregated_coverage"]["mean"]
    assert coverage == {
        "expected": pytest.approx(0.903, abs=5e-4),
        "majority-vote": pytest.approx(0.847, abs=5e-4),
    }


def test_into_a_folder_that_is_made() -> None:
    ran = done("example one/two")
    assert sorted(path.name for path in Path("one/two").iterdir()) == sorted(FILES)
    assert "one/two" in ran.text


def test_files_that_are_there_stay_and_nothing_else_is_written(folder: Path) -> None:
    Path("new_votes.csv").write_text("mine\n", encoding="utf-8")
    refused("example", "output-exists", "new_votes.csv")
    assert [path.name for path in folder.iterdir()] == ["new_votes.csv"]
    assert Path("new_votes.csv").read_text(encoding="utf-8") == "mine\n"


def test_a_folder_that_cannot_be_made() -> None:
    Path("taken").write_text("", encoding="utf-8")
    refused("example taken/below", "output-unwritable")


@pytest.mark.realdata
def test_the_files_are_those_of_the_shared_folder(shared: Path) -> None:
    done("example")
    for name in FILES:
        assert Path(name).read_bytes() == (shared / "example" / name).read_bytes()

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


def test_the_files_are_as_the_pages_describe_them() -> None:
    done("example one/two")
    assert sorted(path.name for path in Path("one/two").iterdir()) == sorted(FILES)
    done("example")
    names = [{row["example"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    patients = [{row["patient"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    assert [len(known) for known in (*names, *patients)] == [300, 200, 171, 114]
    assert not names[0] & names[1]
    assert not patients[0] & patients[1]
    for part, known in zip(("", "new_"), names, strict=True):
        assert {row["example"] for row in rows(f"{part}votes.csv")} == known
        assert {row["example"] for row in rows(f"{part}probabilities.csv")} == known
    for name, coverage in (("expected", 0.903), ("majority-vote", 0.847)):
        done(f"calibrate -a votes.csv -p probabilities.csv --calibrator {name} -o {name}.nc")
        done(f"predict {name}.nc -p new_probabilities.csv --alpha 0.1 -o {name}.csv")
        (found,) = done(f"evaluate {name}.csv -a new_votes.csv --json").document["results"]
        assert found["aggregated_coverage"]["mean"] == pytest.approx(coverage, abs=5e-4)


def test_files_that_are_there_stay_and_nothing_else_is_written(folder: Path) -> None:
    Path("new_votes.csv").write_text("mine\n", encoding="utf-8")
    refused("example", "output-exists", "new_votes.csv")
    assert [path.name for path in folder.iterdir()] == ["new_votes.csv"]
    assert Path("new_votes.csv").read_text(encoding="utf-8") == "mine\n"
    Path("taken").write_text("", encoding="utf-8")
    refused("example taken/below", "output-unwritable")


@pytest.mark.realdata
def test_the_files_are_those_of_the_shared_folder(shared: Path) -> None:
    done("example")
    for name in FILES:
        assert Path(name).read_bytes() == (shared / "example" / name).read_bytes()

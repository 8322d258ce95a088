"""``plausibly reproduce`` and `plausibly.reproduce`: names, files, lines, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plausibly
from cli_world import make, run
from plausibly.errors import InputError
from plausibly.paper.run import ENTRIES, Reproduced

from .runs import DERM, SPLITS, made, skin_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_names_every_figure() -> None:
    ran = run("reproduce", "--list")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["figure", "section", "shows"]
    assert [line.split()[0] for line in lines[1 : len(ENTRIES) + 1]] == [e.name for e in ENTRIES]
    assert max(map(len, lines)) <= 80
    assert "own data" in ran.out
    document = run("reproduce", "--list", "--json").document
    assert [one["name"] for one in document["figures"]] == [entry.name for entry in ENTRIES]
    assert [one["name"] for one in document["figures"] if one["needs_derm"]] == list(DERM)


def test_a_figure_leaves_a_picture_numbers_and_a_line(folder: Path) -> None:
    ran = run("reproduce", "ecdf", "--splits", str(SPLITS), "-o", "out")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert ran.out.startswith("ecdf        held: yes\n  claim     averages of dependent p-values")
    assert ran.out.endswith(
        "\nheld   1 of 1 claims\nsaved  out/: a picture and a CSV each, and claims.txt\n"
    )
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "claims.txt",
        "ecdf.csv",
        "ecdf.png",
    ]
    line = (folder / "out" / "claims.txt").read_text(encoding="utf-8")
    assert line == made("ecdf").claim.line("ecdf") + "\n"


def test_lines_of_other_figures_stay_and_stand_in_order(folder: Path) -> None:
    out = folder / "out"
    out.mkdir()
    claims = out / "claims.txt"
    claims.write_text("p-values: held: yes. Older.\necdf: older.\nmine: kept.\n", encoding="utf-8")
    plausibly.reproduce(["ecdf"], out, splits=2)
    lines = claims.read_text(encoding="utf-8").splitlines()
    assert [line.partition(":")[0] for line in lines] == ["ecdf", "p-values", "mine"]
    assert lines[0] == made("ecdf").claim.line("ecdf")
    assert lines[1] == "p-values: held: yes. Older."


def test_figures_of_data_of_a_user(folder: Path) -> None:
    make(folder)
    words = "reproduce realised examples -a votes.csv -p probabilities.csv --alpha 0.3 -o out"
    lacking = run(*words.split(), "-e", "patients.csv", "--cluster", "ward")
    assert lacking.code == 2
    assert "ward" in lacking.err.splitlines()[0]
    assert not (folder / "out").exists()
    cluster = ("-e", "patients.csv", "--cluster", "patient")
    ran = run(*words.split(), *cluster, "--splits", "1", "--form", "svg", "--json")
    assert ran.code == 0, ran.err
    assert [one["name"] for one in ran.document["figures"]] == ["realised", "examples"]
    assert ran.document["figures"][0]["files"] == ["realised.svg", "realised.csv"]
    svg = (folder / "out" / "realised.svg").read_text(encoding="utf-8")
    assert svg.startswith("<?xml")
    table = (folder / "out" / "realised.csv").read_text(encoding="utf-8")
    assert table.splitlines()[1].startswith("votes.csv,majority-vote,")


def test_python_returns_the_numbers_and_writes_nothing(folder: Path) -> None:
    told: list[Reproduced] = []
    steps: list[tuple[str, int, int]] = []
    found = plausibly.reproduce(
        ["naive-quantile"],
        splits=2,
        told=told.append,
        progress=lambda *step: steps.append(step),
    )
    assert found == told
    assert steps == [("naive-quantile", 1, 2), ("naive-quantile", 2, 2)]
    assert found[0].written == ()
    assert repr(found[0]).startswith("Reproduced naive-quantile: held: ")
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "name", "hint"),
    [
        ("toi", "figure-unknown", 'did you mean "toy"?'),
        ("derm-coverage", "figure-derm", "plausibly reproduce derm-coverage --derm FOLDER"),
        ("", "figure-missing", "plausibly reproduce --list shows them"),
        ("toy --simulate", "figure-simulate", "derm=... (--derm FOLDER), or leave simulate out"),
        ("toy --cluster patient", "option-unfit", "-p probabilities.csv, or leave it out"),
        ("toy --alpha 2", "alpha-range", ""),
        (
            "ecdf -a votes.csv -p probabilities.csv",
            "figure-own",
            "leave your data out, or name one of these",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(words: str, name: str, hint: str, folder: Path) -> None:
    make(folder)
    ran = run("reproduce", *words.split(), "-o", "out")
    assert ran.code == 2
    assert ran.err.startswith(f"error {name}: ")
    assert f"  hint      {hint}" in ran.err
    if name == "figure-own":
        assert all(entry.name in ran.err for entry in ENTRIES if entry.own)
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"splits": 0}, "option-range"),
        ({"splits": True}, "option-range"),
        ({"form": "pdf"}, "option-unknown"),
        ({"predictions": 1}, "figure-data"),
        ({"cluster": "patient"}, "figure-data"),
    ],
)
def test_python_refuses_the_same(options: dict[str, object], name: str) -> None:
    call = plausibly.reproduce
    with pytest.raises(InputError) as caught:
        call("ecdf", **options)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.name == name


def test_the_skin_case_on_the_command_line(folder: Path) -> None:
    derm = skin_folder(folder, model=False)
    ran = run("reproduce", "derm-realised", "--derm", derm, "-o", "out")
    assert (ran.code, "derm-file-missing" in ran.err) == (2, True)
    assert not (folder / "out").exists()
    ran = run(
        *("reproduce", "derm-realised", "--derm", derm, "--simulate", "--splits", "2"),
        *("-o", "out", "--json"),
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["simulate"] is True

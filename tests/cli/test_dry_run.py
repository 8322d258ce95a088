"""``--dry-run``: the checks and messages of the real run, what it would do, and not one file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cli_world import World, make, run, typed

STUDY = """\
alphas = [0.1, 0.2]
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[[calibrations]]
name = "expected"
[[calibrations]]
name = "drawn"
calibrator = { name = "monte-carlo", draws = 4 }
[splits]
count = 7
"""

OF_BOTH = ("-a", "votes.csv", "-p", "probabilities.csv")
COMMANDS = {
    "convert": ("-a", "votes.csv", "-o", "table.npz"),
    "aggregate": ("-a", "votes.csv", "-o", "lam.csv"),
    "calibrate": (*OF_BOTH, "-o", "new.nc"),
    "predict": ("predictor.nc", "-p", "new.csv", "-o", "sets.csv"),
    "run": ("study.toml", "-o", "deep/out"),
    "sensitivity": (
        *(*OF_BOTH, "--splits", "50"),
        *("--aggregator", "label-frequency", "--aggregator", "dawid-skene"),
    ),
    "reproduce": ("voted-undercovers", "-o", "figures"),
    "demo": ("--data", "toy", "-o", "demo"),
    "plugins new": ("thesis-pl", "--kind", "aggregator"),
}
WRITES = {
    "convert": ["table.npz"],
    "aggregate": ["lam.csv"],
    "calibrate": ["new.nc"],
    "predict": ["sets.csv", "sets.json"],
    "run": [
        f"deep/out/{name}"
        for name in ("results.nc", "sets.csv", "sets.json", "predictor.nc", "resolved.toml")
    ],
    "sensitivity": [],
    "reproduce": [f"figures/{n}" for n in ("voted-undercovers.png", "voted-undercovers.csv")],
    "demo": [f"demo/{name}" for name in ("sets.csv", "study.toml", "plausibilities.csv")],
    "plugins new": ["thesis-pl"],
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    made = make(tmp_path)
    made.write("study.toml", STUDY)
    assert run("calibrate", *OF_BOTH, "-o", "predictor.nc").code == 0
    return made


def seen(folder: Path) -> dict[str, str]:
    """Return what is in a folder: every path, and the digest of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_it_writes_nothing_and_says_what_it_would(world: World, command: str) -> None:
    before = seen(world.folder)
    text = typed(command, *COMMANDS[command], "--dry-run")
    found = typed(command, *COMMANDS[command], "--dry-run", "--json")
    assert (text.code, found.code) == (0, 0), text.err
    assert (text.err, found.err) == ("", "")
    assert seen(world.folder) == before
    said = found.document["dry_run"]
    written = [one["path"] for one in said["would_write"]]
    assert set(WRITES[command]) <= set(written)
    assert all(one["replaces_bytes"] is None for one in said["would_write"])
    first, *lines = text.out.splitlines()
    assert first.endswith("what can be checked is right; nothing was written")
    assert first.startswith("dry run")
    assert max(map(len, lines)) <= 80
    assert said["would"] in " ".join(text.out.split())
    assert text.out.endswith("the same without --dry-run\n")
    assert "saved" not in found.document
    for one in said["read"].values():
        assert one["bytes"] == world.path(one["path"]).stat().st_size


def test_what_it_says_of_a_calibration(world: World) -> None:
    assert run("calibrate", *OF_BOTH, "-o", "fresh.nc", "--dry-run").out == (
        "dry run      what can be checked is right; nothing was written\n"
        "read         -a votes.csv (1.0 kB); -p probabilities.csv (0.6 kB)\n"
        "annotations  votes.csv (crowd-table): 30 examples, 3 annotators, 90 responses (3\n"
        "             each), 3 labels seen; single-label; 70 % of examples disputed\n"
        "predictions  probabilities.csv: 30 x 3 float64\n"
        "chosen       aggregator label-frequency, calibrator expected, score probability,\n"
        "             combiner average (defaults)\n"
        "would do     save a predictor of 30 examples, 3 labels\n"
        "memory       about 2.2 kB of arrays\n"
        "would write  fresh.nc (new)\n"
        "next         the same without --dry-run\n"
    )


def test_what_it_says_of_a_study(world: World) -> None:
    found = run("run", "study.toml", "--dry-run", "--processes", "2", "--json").document
    assert found["dry_run"]["would"] == "calibrate and measure 14 times: 7 splits of 2 calibrations"
    assert found["dry_run"]["memory_bytes"] == 2 * 3 * 30 * 3 * 8
    text = run("run", "study.toml", "--dry-run").out
    assert "would write  plausibly-out/: " in text
    assert (
        "results.nc (new), sets.csv (new), sets.json (new), predictor.nc (new), resolved.toml (new)"
    ) in " ".join(text.split())
    assert "assumptions  " in text


def test_a_file_that_would_be_replaced(world: World) -> None:
    world.write("lam.csv", "12345")
    found = run("aggregate", "-a", "votes.csv", "-o", "lam.csv", "--dry-run", "--json")
    assert found.document["dry_run"]["would_write"] == [{"path": "lam.csv", "replaces_bytes": 5}]
    assert world.path("lam.csv").read_text() == "12345"


MISTAKES = {
    "no file": ("aggregate", "-a", "votes.cvs", "-o", "lam.csv"),
    "ending": ("aggregate", "-a", "votes.csv", "-o", "lam.txt"),
    "ending of a table": ("convert", "-a", "votes.csv", "-o", "table"),
    "ending of sets": ("predict", "predictor.nc", "-p", "new.csv", "-o", "sets.txt"),
    "no folder": ("calibrate", *OF_BOTH, "-o", "nowhere/p.nc"),
    "a file as folder": ("convert", "-a", "votes.csv", "-o", "votes.csv/t.csv"),
    "other examples": ("calibrate", "-a", "votes.csv", "-p", "new.csv", "-o", "p.nc"),
    "component": ("calibrate", *OF_BOTH, "--score", "probabilty", "-o", "p.nc"),
    "coordinate": ("calibrate", *OF_BOTH, "--group", "patient", "-o", "p.nc"),
    "input": ("predict", "predictor.nc", "-p", "new.csv", "-o", "new.csv"),
    "guarantee in the way": ("predict", "predictor.nc", "-p", "new.csv", "-o", "own.csv"),
    "study": ("run", "wrong.toml"),
    "study over itself": ("run", "results.nc"),
    "figure": ("reproduce", "voted-overcovers"),
    "aggregator": ("sensitivity", *OF_BOTH, "--aggregator", "x", "--aggregator", "y"),
    "one aggregator": ("sensitivity", *OF_BOTH, "--aggregator", "label-frequency"),
    "name": ("plugins", "new", "scores", "--kind", "score"),
    "there already": ("plugins", "new", "taken", "--kind", "score"),
    "demo": ("demo", "--data", "toy", "-o", "votes.csv/demo"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_those_of_the_real_run(world: World, mistake: str) -> None:
    world.write("own.json", "[]")
    world.write("wrong.toml", STUDY.replace('"monte-carlo"', '"monte-carol"'))
    world.write("results.nc", f'{STUDY}\n[output]\nfolder = "."\n')
    world.path("taken").mkdir()
    before = seen(world.folder)
    dry = run(*MISTAKES[mistake], "--dry-run")
    assert seen(world.folder) == before
    real = run(*MISTAKES[mistake])
    assert (dry.code, dry.err) == (real.code, real.err)
    assert dry.code == 2


def test_chunks_are_not_read(world: World) -> None:
    pytest.importorskip("dask")
    import numpy as np

    rows = [line.split(",")[1:] for line in world.path("probabilities.csv").read_text().split()[1:]]
    np.save(world.path("p.npy"), np.array(rows, float))
    names = [line.split(",")[0] for line in world.path("patients.csv").read_text().split()]
    world.write("e.csv", "\n".join(names) + "\n")
    world.write("labels.txt", "cat\ndog\nfox\n")
    files = ("-a", "votes.csv", "-p", "p.npy", "-e", "e.csv", "--labels", "labels.txt")
    chunks = ("--chunks", "7", "--scheduler", "local")
    ran = run("calibrate", *files, *chunks, "-o", "p.nc", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert "would do     read 30 examples, 7 at a time, and calibrate\n" in ran.out
    ran = run("calibrate", *files, *chunks, "--calibrator", "expcted", "-o", "p.nc", "--dry-run")
    assert ran.code == 2
    assert 'error component-unknown: no calibrator "expcted"' in ran.err

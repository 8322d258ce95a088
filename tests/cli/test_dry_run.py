"""``--dry-run``: the checks and messages of the real run, what it would do, and not one file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cli_world import CALIBRATE, PREDICT, World, done, refused, typed

STUDY = """\
alphas = [0.1, 0.2]
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[[methods]]
name = "expected"
[[methods]]
name = "drawn"
calibrator = { name = "monte-carlo", draws = 4 }
[splits]
count = 7
"""

OF_BOTH = "-a votes.csv -p probabilities.csv"
BY_TWO = "--aggregator label-frequency --aggregator dawid-skene"
STUDIED = ("results.nc", "sets.csv", "sets.json", "predictor.nc", "resolved.toml")
COMMANDS = {  # and what each would write
    "convert -a votes.csv -o table.npz": ["table.npz"],
    "aggregate -a votes.csv -o lam.csv": ["lam.csv"],
    f"calibrate {OF_BOTH} -o new.nc": ["new.nc"],
    PREDICT: ["sets.csv", "sets.json"],
    "run study.toml -o deep/out": [f"deep/out/{name}" for name in STUDIED],
    f"sensitivity {OF_BOTH} --splits 50 {BY_TWO}": [],
    "reproduce majority-vote-undercovers -o figures": [
        *("figures/majority-vote-undercovers.png", "figures/majority-vote-undercovers.csv")
    ],
    "demo --data toy -o demo": ["demo/sets.csv", "demo/study.toml", "demo/plausibilities.csv"],
    "plugins new thesis-pl --kind aggregator": ["thesis-pl"],
}


@pytest.fixture
def world(world: World) -> World:
    world.write("study.toml", STUDY)
    done(CALIBRATE)
    return world


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
    text = done(command, "--dry-run")
    found = done(command, "--dry-run", "--json")
    assert seen(world.folder) == before
    said = found.document["dry_run"]
    assert set(COMMANDS[command]) <= {one["path"] for one in said["would_write"]}
    assert all(one["replaces_bytes"] is None for one in said["would_write"])
    assert text.out.startswith("dry run")
    assert text.width <= 80
    assert said["would"] in text.text
    assert "saved" not in found.document
    for one in said["read"].values():
        assert one["bytes"] == world.path(one["path"]).stat().st_size


def test_counts_memory_and_what_would_be_replaced(world: World) -> None:
    found = typed("run study.toml --dry-run --processes 2 --json").document["dry_run"]
    assert found["would"] == "calibrate and measure 14 times: 7 splits of 2 methods"
    assert found["memory_bytes"] == 2 * 3 * 30 * 3 * 8
    world.write("lam.csv", "12345")
    found = typed("aggregate -a votes.csv -o lam.csv --dry-run --json").document["dry_run"]
    assert found["would_write"] == [{"path": "lam.csv", "replaces_bytes": 5}]
    assert world.path("lam.csv").read_text() == "12345"


MISTAKES = (
    "aggregate -a votes.cvs -o lam.csv",
    "convert -a votes.csv -o table",
    "predict predictor.nc -p new.csv -o sets.txt",
    f"calibrate {OF_BOTH} -o nowhere/p.nc",
    "convert -a votes.csv -o votes.csv/t.csv",
    f"calibrate {OF_BOTH} --score probabilty -o p.nc",
    f"calibrate {OF_BOTH} --set examples.cluster=patient -o p.nc",
    "predict predictor.nc -p new.csv -o own.csv",  # own.json is no guarantee
    "run wrong.toml",
    "run results.nc",  # over itself
    "reproduce voted-overcovers",
    f"sensitivity {OF_BOTH} --aggregator x --aggregator y",
    f"sensitivity {OF_BOTH} --aggregator label-frequency",
    "plugins new taken --kind score",
    "demo --data toy -o votes.csv/demo",
)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_those_of_the_real_run(world: World, mistake: str) -> None:
    world.write("own.json", "[]")
    world.write("wrong.toml", STUDY.replace('"monte-carlo"', '"monte-carol"'))
    world.write("results.nc", f'{STUDY}\n[output]\nfolder = "."\n')
    world.path("taken").mkdir()
    before = seen(world.folder)
    dry = typed(mistake, "--dry-run")
    assert seen(world.folder) == before
    real = typed(mistake)
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
    files = "-a votes.csv -p p.npy -e e.csv --labels labels.txt"
    files += " --set compute.chunks=7 --set compute.scheduler=local"
    calibrate = f"calibrate {files} -o p.nc --dry-run"
    ran = done(calibrate)
    assert "would do     read 30 examples, 7 at a time, and calibrate\n" in ran.out
    refused(f"{calibrate} --calibrator expcted", "component-unknown", 'no calibrator "expcted"')

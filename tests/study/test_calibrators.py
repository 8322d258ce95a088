"""Study files with calibrators by group, weight, patient, risk and view, from check to files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from cli_calibrators import VIEWS, make
from cli_world import Ran, World, run


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def field(ran: Ran, title: str) -> str:
    """Return the text of the first row of that title, in one line."""
    found = re.search(rf"^{title}  +(.*(?:\n  .*)*)", ran.out, re.M)
    return " ".join(found[1].split()) if found else ""


STUDY = """\
seed = 1
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[examples]
path = "patients.csv"
cluster = "patient"
[labels]
path = "risks.csv"
[[methods]]
calibrator = { name = "mondrian", by = "site", inner = { name = "monte-carlo", draws = 4 } }
[[methods]]
calibrator = { name = "weighted", by = "weight" }
[[methods]]
calibrator = { name = "clustered", by = "patient" }
[[methods]]
calibrator = { name = "risk", by = "risk" }
[[methods]]
calibrator = { name = "mass-coverage", leave_out = 0.2 }
[splits]
count = 3
[evaluation]
by = ["site"]
[output]
folder = "out"
"""


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_study_of_all_of_them(world: World) -> None:
    world.write("study.toml", STUDY)
    told = run("run", "study.toml")
    assert told.code == 0, told.err
    assert max(map(len, told.out.splitlines())) <= 80
    assert "mondrian(by=site, inne…" in told.out
    rows = " ".join(told.out.split())
    assert ' none per "patient" 1.000 0.90, vacuous risk(by=risk) ' in rows
    assert " risk 0.10, vacuous mass-coverage(leave_ou… " in rows
    assert " 0.90 of sets Verdict: " in rows
    assert field(told, "needs") == '"site" of every new example (-e)'
    assert "plausibly predict out/predictor.nc -p NEW -e NEW_EXAMPLES" in told.out
    again = run("run", "out/resolved.toml", "-o", "again")
    assert again.code == 0
    assert world.path("out/sets.csv").read_bytes() == world.path("again/sets.csv").read_bytes()
    results = json.loads(run("run", "study.toml", "--json", "--fresh").out)
    assert [method["name"] for method in results["methods"]] == [
        "mondrian(by=site, inner=monte-carlo(draws=4))",
        "weighted(by=weight)",
        "clustered(by=patient)",
        "risk(by=risk)",
        "mass-coverage(leave_out=0.2)",
    ]
    words = "predict out/predictor.nc -p new.csv -e new_patients.csv -o s.csv"
    ran = run(*words.split())
    assert ran.code == 0


def test_config_show_describes_what_is_inside(world: World) -> None:
    world.write("study.toml", STUDY)
    out = run("config", "show", "study.toml").out
    for key in ('by = "site"', 'inner.name = "monte-carlo"', "inner.draws = 4"):
        assert re.search(rf"^calibrator\.{re.escape(key)} +# line 12$", out, re.M), key
    assert re.search(r"^calibrator\.inner\.systematic = false +# default$", out, re.M)


def test_what_calibrators_ask_for_is_checked_before_anything_runs(world: World) -> None:
    world.write(
        "study.toml", STUDY.replace('by = "site"', 'by = "sit"').replace('"risk" }', '"rank" }')
    )
    ran = run("config", "check", "study.toml")
    assert ran.code == 2
    assert " ".join(ran.out.split()) == (
        "study.toml: 2 mistakes, nothing was run "
        'line 12 methods[0].calibrator: calibrator mondrian needs "sit" of the examples, and '
        "the predictions have none; expected a coordinate over example; found diagnosis, patient, "
        'site, … (4 in all); did you mean "site"? '
        'line 18 methods[3].calibrator: calibrator risk needs "rank" of the labels, and the '
        "predictions have none; expected a coordinate over label; found risk; [labels] path, a "
        "table with such a column"
    )
    assert max(map(len, ran.out.splitlines())) <= 80


AUGMENTED = """\
[annotations]
path = "votes.csv"
[predictions]
path = "views.csv"
augmentation = "view"
[[methods]]
calibrator = { name = "augmentation", scores = "pooled" }
[[methods]]
calibrator = "augmentation"
[[methods]]
calibrator = { name = "augmentation", scores = "separate" }
combiner = "maximum"
[splits]
count = 3
[output]
folder = "out"
"""


def test_a_study_of_views(world: World) -> None:
    world.write("study.toml", AUGMENTED)
    told = run("run", "study.toml")
    assert (told.code, told.err) == (0, "")
    assert field(told, "predictions").startswith(
        "views.csv: 30 examples, 2 augmentations (original, flipped), all"
    )
    document = run("run", "study.toml", "--json").document
    assert document["study"]["predictions"]["augmentation"] == "view"
    assert document["predictions"]["augmentations"] == list(VIEWS)
    for method in document["methods"]:
        assert math.isfinite(method["results"][0]["aggregated_coverage"])
        assert method["results"][0]["guaranteed"] == 0.9
    assert world.path("out/sets.csv").read_text().count("\n") == 16
    # The views are named by another column, or by none.
    world.edit("study.toml", 'augmentation = "view"', 'augmentation = "veiw"')
    ran = run("config", "check", "study.toml")
    assert ran.code == 2
    hint = '[predictions] augmentation = "view", if that column names the augmentations'
    assert " ".join(ran.err.split()).endswith(hint)
    world.edit("study.toml", 'augmentation = "veiw"\n', "")
    err = " ".join(run("config", "check", "study.toml").err.split())
    assert '[predictions] augmentation = "COLUMN", if it names augmentations of an example' in err
    world.edit("study.toml", "views.csv", "probabilities.csv")
    out = " ".join(run("config", "check", "study.toml").out.split())
    assert "methods[0].calibrator: predictions have no augmentations; expected the dim" in out
    assert '[predictions] augmentation = "COLUMN", of a table with them in rows' in out

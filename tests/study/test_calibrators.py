"""Studies of calibrators by group, weight, cluster, risk and augmentation, from check to files."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from cli_calibrators import VIEWS, make
from cli_world import World, run


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


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
count = 2
[evaluation]
by = ["site"]
[output]
folder = "out"
"""


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_study_of_all_of_them(world: World) -> None:
    world.write("study.toml", STUDY)
    ran = run("run", "study.toml", "--no-report")
    assert ran.code == 0, ran.err
    assert ran.width <= 80
    assert "mondrian(by=site, inne…" in ran.out
    assert ' none per "patient" 1.000 0.90, vacuous risk(by=risk) ' in ran.text
    assert " risk 0.10, vacuous mass-coverage(leave_ou… " in ran.text
    assert " 0.90 of sets Verdict: " in ran.text
    assert 'needs "site" of every new example (-e) ' in ran.text
    assert "plausibly predict out/predictor.nc -p NEW -e NEW_EXAMPLES" in ran.out
    again = run("run", "out/resolved.toml", "-o", "again", "--no-report", "--json")
    assert world.path("out/sets.csv").read_bytes() == world.path("again/sets.csv").read_bytes()
    assert [method["name"] for method in again.document["methods"]] == [
        "mondrian(by=site, inner=monte-carlo(draws=4))",
        "weighted(by=weight)",
        "clustered(by=patient)",
        "risk(by=risk)",
        "mass-coverage(leave_out=0.2)",
    ]
    words = "predict out/predictor.nc -p new.csv -e new_patients.csv -o s.csv"
    assert run(*words.split()).code == 0


def test_components_inside_are_shown_and_data_that_they_lack_are_mistakes(world: World) -> None:
    world.write("study.toml", STUDY)
    out = run("config", "show", "study.toml").out
    for key in ('by = "site"', 'inner.name = "monte-carlo"', "inner.draws = 4"):
        assert re.search(rf"^calibrator\.{re.escape(key)} +# line 12$", out, re.M), key
    assert re.search(r"^calibrator\.inner\.systematic = false +# default$", out, re.M)
    world.edit("study.toml", 'by = "site"', 'by = "sit"')
    world.edit("study.toml", '"risk" }', '"rank" }')
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.width <= 80) == (2, True)
    assert 'line 12 methods[0].calibrator: calibrator mondrian needs "sit" of the ex' in ran.text
    assert 'did you mean "site"? line 18 methods[3].calibrator: calibrator risk needs' in ran.text
    assert ran.text.endswith("[labels] path, a table with such a column")


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


def test_a_study_of_augmentations(world: World) -> None:
    world.write("study.toml", AUGMENTED)
    ran = run("run", "study.toml", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert document["study"]["predictions"]["augmentation"] == "view"
    assert document["predictions"]["augmentations"] == list(VIEWS)
    for method in document["methods"]:
        assert math.isfinite(method["results"][0]["aggregated_coverage"])
        assert method["results"][0]["guaranteed"] == 0.9
    assert world.path("out/sets.csv").read_text().count("\n") == 16
    for old, new, hint in (
        ('augmentation = "view"', 'augmentation = "veiw"', '"view", if that column names the'),
        ('augmentation = "veiw"\n', "", '"COLUMN", if it names augmentations of an example'),
        ("views.csv", "probabilities.csv", '"COLUMN", of a table with them in rows'),
    ):
        world.edit("study.toml", old, new)
        ran = run("config", "check", "study.toml")
        assert ran.code == 2
        assert f"[predictions] augmentation = {hint}" in " ".join((ran.out + ran.err).split())

"""The command line computes what the Python API computes, also of thousands of labels."""

from __future__ import annotations

import typing
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import CALIBRATE, EVALUATE, VIEWS, Ran, World, done, make_views, refused, run, typed
from memory import at_most
from plausibly.config.load import key
from plausibly.data.validate import SCALES
from plausibly.evaluation.intervals import METHODS as INTERVALS
from plausibly.io import read_plausibilities, read_sets
from plausibly.kernels.coverage import TIES

METHODS: dict[str, dict[str, object]] = {
    "": {},
    "--calibrator monte-carlo --set method.calibrator.draws=7 --seed 3": {
        "calibrator": "monte-carlo",
        "draws": 7,
        "seed": 3,
    },
    "--calibrator majority-vote --score log-probability": {
        "calibrator": "majority-vote",
        "score": "log-probability",
    },
}


@pytest.mark.parametrize("flags", METHODS)
def test_the_way_of_the_data(world: World, flags: str) -> None:
    predictions = plausibly.read_predictions("probabilities.csv")
    plausibilities = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    predictor = plausibly.calibrate(predictions, plausibilities, **METHODS[flags])  # type: ignore[arg-type]  # by name
    sets = predictor.predict(plausibly.read_predictions("new.csv"), ["0.1", "0.2"])
    new = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    evaluation = plausibly.evaluate(sets, new).data

    ran = typed(f"{CALIBRATE} {flags} --json")
    assert ran.code == 0, ran.err
    assert ran.document["fingerprint"] == predictor.fingerprint
    loaded = plausibly.load_predictor("predictor.nc")
    assert loaded.metadata.aggregator == "label-frequency"
    ran = typed("predict predictor.nc -p new.csv --alpha 0.1 --alpha 0.2 -o sets.csv --json")
    thresholds = predictor.threshold(["0.1", "0.2"]).values.tolist()
    assert [result["threshold"] for result in ran.document["results"]] == thresholds
    xr.testing.assert_identical(read_sets("sets.csv"), sets.rename(None))
    ran = typed(f"{EVALUATE} --json")
    for result, alpha in zip(ran.document["results"], (0.1, 0.2), strict=True):
        for end in ("mean", "low", "high"):
            expected = float(evaluation[f"aggregated_coverage_{end}"].sel(alpha=alpha))
            assert result["aggregated_coverage"][end] == expected


def test_inline_tables_are_components_and_names_may_be_left_out(world: World) -> None:
    table = '{name = "ecdf", delta = 0.5, held_out = 0.4, band = "one-sided"}'
    drawn = ("--calibrator", '{name = "monte-carlo", draws = 3}')
    ran = typed(CALIBRATE, "--combiner", table, *drawn, "--set", "output.keep_names=false")
    assert ran.code == 0
    predictor = plausibly.load_predictor("predictor.nc")
    assert (predictor.summary.m, predictor.summary.n_held_out) == (3, 12)
    assert "combiner ecdf (held_out 0.4, delta 0.5, band one-sided)" in ran.text
    assert predictor.hashes is None


def fingerprint(line: str) -> str:
    """Return the fingerprint of the predictor that a command makes."""
    ran = typed(line, "--json")
    assert ran.code == 0, ran.err
    return str(ran.document["fingerprint"])


@pytest.mark.parametrize(
    ("path", "choices"),
    [
        ("predictions.scale", SCALES),
        ("evaluation.ties", TIES),
        ("evaluation.interval", INTERVALS),
    ],
)
def test_choices_are_those_of_the_library(path: str, choices: typing.Iterable[str]) -> None:
    assert typing.get_args(key(path).arms[0]) == tuple(choices)


# ---- names in files

HEAD, OTHER = "task,worker,label", "item,rater,answer"
KEYS = " --set annotations.columns.".join(
    ("", "example=item", "annotator=rater --set annotations.reader=long-table", "label=answer")
)
TABLE = '{example = "item", annotator = "rater", label = "answer"}'


@pytest.mark.parametrize(
    ("file", "old", "new", "option"),
    [
        ("votes.csv", HEAD, OTHER, "--columns example=item,annotator=rater,label=answer"),
        ("votes.csv", HEAD, OTHER, f"--columns '{TABLE}'"),
        ("votes.csv", HEAD, OTHER, f"--set annotations.columns='{TABLE}'"),
        ("votes.csv", HEAD, OTHER, KEYS),
        ("probabilities.csv", "example,", "case,", "--set predictions.example=case"),
        ("votes.csv", "dog", "hound", "--set labels.rename=hound=dog"),
        ("probabilities.csv", "dog", "hound", "--set labels.rename=hound=dog"),
        ("votes.csv", "dog", "d=g", '--set labels.rename=\'{"d=g" = "dog"}\''),
        # Quotes keep a blank in a header, too.
        ("probabilities.csv", "dog", '"dog "', "--set labels.strip=true"),
    ],
)
def test_names_of_other_files(world: World, file: str, old: str, new: str, option: str) -> None:
    expected = fingerprint(CALIBRATE)
    world.replace(file, old, new)
    ran = typed(CALIBRATE)
    assert ran.code == 2
    assert option != "--set labels.strip=true" or "--set labels.strip=true, or --set" in ran.err
    assert fingerprint(f"{CALIBRATE} {option}") == expected


def test_answers_of_a_label_with_and_without_a_blank_are_merged(world: World) -> None:
    expected = fingerprint(CALIBRATE)
    world.replace("votes.csv", "dog", "dog ", 2)
    for option in ("--set labels.strip=true", "--set 'labels.rename=dog =dog'"):
        assert '2 (2 as "dog ")' in done(f"{CALIBRATE} {option}").text
        assert fingerprint(f"{CALIBRATE} {option}") == expected


def test_normalise_and_scale(world: World) -> None:
    array = plausibly.read_predictions("probabilities.csv")
    np.savez("twice.npz", predictions=array.values * 2, examples=array.example, labels=array.label)
    plausibilities = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    line = CALIBRATE.replace("probabilities.csv", "twice.npz")
    assert "--set predictions.normalise=true" in typed(line).err
    for option, predictions in (
        ("normalise=true", plausibly.read_predictions("twice.npz", normalise=True)),
        ("scale=any", plausibly.read_predictions("twice.npz", scale="any")),
    ):
        expected = plausibly.calibrate(predictions, plausibilities).fingerprint
        assert fingerprint(f"{line} --set predictions.{option}") == expected


# ---- what is left out


def test_a_dry_run_reads_no_chunk(world: World) -> None:
    pytest.importorskip("dask")
    np.save("p.npy", plausibly.read_predictions("probabilities.csv").values)
    world.write("labels.txt", "cat\ndog\nfox\n")
    files = "-a votes.csv -p p.npy -e patients.csv --labels labels.txt -o p.nc --dry-run"
    line = f"calibrate {files} --set compute.chunks=7 --set compute.scheduler=local"
    assert "would do     read 30 examples, 7 at a time, and calibrate\n" in done(line).out
    refused(f"{line} --calibrator expcted", "component-unknown", 'no calibrator "expcted"')


def test_draws_stand_for_the_annotations(world: World) -> None:
    draws = typed("aggregate -a votes.csv --aggregator bootstrap -o draws.parquet --json")
    assert draws.document["draws"] == 10
    table = plausibly.read_annotations("votes.csv")
    xr.testing.assert_identical(
        plausibly.read_plausibilities("draws.parquet"), plausibly.aggregate(table, "bootstrap")
    )
    words = "-p probabilities.csv -o predictor.nc --calibrator monte-carlo --json"
    drawn = typed("calibrate --plausibilities draws.parquet", *words.split()).document
    direct = typed("calibrate -a votes.csv --aggregator bootstrap", *words.split()).document
    assert drawn["fingerprint"] == direct["fingerprint"]
    assert drawn["plausibilities"]["draws"] == 10
    study = (
        'alphas = [0.2]\n[plausibilities]\npath = "draws.parquet"\n'
        '[predictions]\npath = "probabilities.csv"\n[examples]\npath = "patients.csv"\n'
        "[[methods]]\n[splits]\ncount = 2\n"
    )
    world.write("study.toml", study)
    ran = typed("run study.toml --json --no-report")
    assert ran.code == 0, ran.err


OF_VOTES = ("-a", "votes.csv", "--labels", "labels.txt")
DRAWN = """--aggregator '{name = "bootstrap", draws = 2}'"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_votes(examples: int, labels: int) -> None:
    """Write five votes per example, of which some agree, and the names of all labels."""
    names = [f"label {code}" for code in range(labels)]
    Path("labels.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    rng = np.random.default_rng(0)
    answers = (
        rng.integers(0, labels, examples)[:, None] + rng.integers(0, 4, (examples, 5))
    ) % labels
    lines = [
        f"case {row},w{vote},{names[answers[row, vote]]}\n"
        for row in range(examples)
        for vote in range(5)
    ]
    Path("votes.csv").write_text("task,worker,label\n" + "".join(lines), encoding="utf-8")


@pytest.fixture
def small() -> None:
    """Forty examples of fifty labels: what they give is known from dense arrays."""
    write_votes(40, 50)
    np.savez(
        "p.npz",
        predictions=np.random.default_rng(1).dirichlet(np.full(50, 0.2), 40).astype(np.float32),
        examples=[f"case {row}" for row in range(40)],
        labels=[f"label {code}" for code in range(50)],
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("out", "form", "shown"),
    [
        ("lam.nc", "sparse", "only what is not 0"),
        ("lam.csv", "long", "a row for each label that is not 0"),
        ("lam.npz", "wide", ""),
    ],
)
def test_every_form_gives_the_same_predictor(out: str, form: str, shown: str) -> None:
    ran = done("aggregate", *OF_VOTES, "-o", out, "--form", form)
    saved = next(line for line in ran.out.splitlines() if line.startswith("saved"))
    assert saved.endswith(f" kB, {shown})" if shown else " kB)")
    table = plausibly.read_annotations("votes.csv", labels=Path("labels.txt"))
    assert read_plausibilities(out).equals(plausibly.aggregate(table))
    words = ("-p", "p.npz", "--json", "-o", "predictor.nc")
    dense = plausibly.calibrate(plausibly.read_predictions("p.npz"), plausibly.aggregate(table))
    for flags in (("--plausibilities", out), OF_VOTES):
        assert run("calibrate", *flags, *words).document["fingerprint"] == dense.fingerprint


def test_aggregate_makes_no_dense_array() -> None:
    write_votes(3, 40)
    done("aggregate", *OF_VOTES, "-o", "lam.npz")  # what is imported once is no part of it
    write_votes(1_000, 20_000)  # dense: 153 MiB
    with at_most(64):
        done("aggregate", *OF_VOTES, "-o", "large.npz")
    assert read_plausibilities("large.npz", sparse=True).sizes["label_name"] == 20_000


def test_forms_by_default() -> None:
    for labels, words, form in (
        (1_001, "-o lam.csv", "long"),
        (1_001, "-o lam.nc", "sparse"),
        (1_001, f"-o drawn.nc {DRAWN}", "wide"),
        (1_000, "-o lam.nc", "wide"),
    ):
        write_votes(3, labels)
        assert typed(f"aggregate {words} --json", *OF_VOTES).document["form"] == form
    sparse = f"aggregate {' '.join(OF_VOTES)} --form sparse -o"
    refused(f"{sparse} lam.csv", "option-unfit", ".csv file", "-o lam.npz, or --form long")
    refused(f"{sparse} lam.npz {DRAWN}", "option-unfit", "for draws", "hint --form wide")


FILES = "-a votes.csv -e patients.csv -o p.nc"
MONDRIAN = '{name = "mondrian", by = "site"}'
WEIGHTED = '{name = "weighted", by = "weight"}'
KNOWN = "predict p.nc -o s.csv -p new.csv -e new_patients.csv"


@pytest.fixture
def weighted(here: Path) -> World:
    return make_views(here)


def calibrated(calibrator: str, model: str = "-p probabilities.csv") -> Ran:
    ran = typed(f"calibrate {FILES} {model} --json", "--calibrator", calibrator)
    assert ran.code == 0, ran.err
    return ran


def test_thresholds_by_group(weighted: World) -> None:
    result = calibrated(MONDRIAN).document
    assert result["asks_of_new"] == ["site"]
    (guarantee,) = result["guarantees"]
    expected = plausibly.load_predictor("p.nc").threshold(0.1)
    assert guarantee["threshold_by"] == "site"
    assert guarantee["threshold"] == {
        site: float(expected.sel(site=site)) for site in ("north", "south")
    }
    document = typed(f"{KNOWN} --json").document
    assert document["results"][0]["threshold"] == guarantee["threshold"]
    plain = calibrated("expected").document["guarantees"][0]
    assert (plain["threshold_by"], plain["threshold"]) == (None, pytest.approx(0.2))


def test_augmentations_with_one_mean_score_and_pooled(weighted: World) -> None:
    seen = "-p views.csv --set predictions.augmentation=view"
    calibrated("augmentation", seen)
    document = typed("predict p.nc -o s.csv -p new_views.csv --json").document
    predictor = plausibly.load_predictor("p.nc")
    sets = predictor.predict(plausibly.read_predictions("new_views.csv", augmentation="view"), 0.1)
    assert document["results"][0]["threshold"] == float(predictor.threshold(0.1))
    assert document["results"][0]["mean_size"] == float(sets.sum("label").mean())
    assert document["predictions"]["augmentations"] == list(VIEWS)
    calibrated('{name = "augmentation", scores = "pooled"}', seen)
    assert typed("predict p.nc -o s.csv -p new.csv").code == 0


# ---- examples unlike those of calibration


def test_a_shift_is_warned_of_unless_weights_correct_for_it(weighted: World) -> None:
    rows = "".join(f"s{number},0.98,0.01,0.01\n" for number in range(200))
    weighted.write("sure.csv", f"example,cat,dog,fox\n{rows}")
    known = "".join(f"s{number},1\n" for number in range(200))
    weighted.write("known.csv", f"example,weight\n{known}")
    calibrated("expected")
    assert "shift-suspected" not in typed("predict p.nc -p new.csv -o s.csv").err
    ran = typed("predict p.nc -p sure.csv -o s.csv")
    assert ran.code == 0
    old = plausibly.read_predictions("probabilities.csv").max("label").values
    gap = max(float((old <= t).mean()) for t in np.unique(old[old < 0.98]))
    assert f"shift-suspected: sure.csv scores unlike calibration (KS {gap:.2f})" in ran.err
    calibrated(WEIGHTED)
    ran = typed("predict p.nc -p sure.csv -e known.csv -o s.csv")
    assert (ran.code, "shift-suspected" in ran.err) == (0, False)

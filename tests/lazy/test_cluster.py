"""The same bits from two real worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import cli_world
import plausibly
from cli_world import done
from plausibly.io import write_plausibilities
from tables import world

pytestmark = [
    pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
CAL, ANSWERS = world(40)
NEW, NEW_ANSWERS = world(40, seed=2, start=100)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:  # Any: distributed has no hints, and is an extra
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:  # Any: as above
    with cluster.get_client() as client:
        yield client


def test_calibrate_predict_and_evaluate_on_two_workers(
    client: Any,  # Any: as above
) -> None:
    assert len(client.ncores()) == 2
    calibrate = partial(plausibly.calibrate, calibrator="monte-carlo", combiner="ecdf")
    whole = calibrate(CAL, ANSWERS)
    predictor = calibrate(CAL.chunk(example=15), ANSWERS.chunk(example=15))
    assert predictor.fingerprint == whole.fingerprint
    sets, lazy = whole.predict(NEW, 0.3), predictor.predict(NEW.chunk(example=20), 0.3)
    assert lazy.compute().identical(sets)
    expected = plausibly.evaluate(sets, NEW_ANSWERS).data
    for answers in (NEW_ANSWERS, NEW_ANSWERS.chunk(example=7)):
        assert plausibly.evaluate(lazy, answers).data.identical(expected)


def test_a_command_computes_with_a_scheduler(
    cluster: Any,  # Any: as above; this process has no client of its own
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    CAL.to_dataset(name="p").to_zarr("p.zarr", zarr_format=2)
    write_plausibilities(ANSWERS, "lam.nc")
    calibrate = "calibrate --plausibilities lam.nc -p p.zarr"
    done(f"{calibrate} -o whole.nc")
    chunks = "--set compute.chunks=15 --set compute.scheduler"
    for scheduler in (cluster.scheduler_address, "local"):
        done(f"{calibrate} -o chunked.nc {chunks}={scheduler}")
        assert Path("chunked.nc").read_bytes() == Path("whole.nc").read_bytes()
        Path("chunked.nc").unlink()
    cli_world.refused(
        f"{calibrate} -o chunked.nc {chunks}=pigeon://roof",
        "scheduler-unreachable",
        "no Dask scheduler answers at pigeon://roof expected local, threads, or an address such as",
        "'pigeon'",
        "hint start one (dask scheduler), or --set compute.scheduler=local",
    )
    cli_world.refused(
        f"{calibrate} -o chunked.nc --set compute.scheduler=local",
        "option-unfit",
        "compute.scheduler has no meaning without compute.chunks",
        "hint --set compute.chunks=10000",
    )
    # The default of what is computed later stays.
    assert CAL.chunk(example=15).identical(CAL.chunk(example=15).compute())

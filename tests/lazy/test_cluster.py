"""The same bits from two real worker processes, also when one of them dies in mid-run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from cli_world import done
from lazy_world import plausibilities, predictions
from plausibly.cli.chunks import counting
from plausibly.io import write_plausibilities
from plausibly.kernels.types import Floats

pytestmark = [
    pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
CAL, NEW = predictions(40), predictions(40, seed=2, prefix="t")
LAM = plausibilities(CAL)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:  # Any: distributed has no hints, and is an extra
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_calibrate_predict_and_evaluate_on_two_workers(
    client: Any,  # Any: as above
) -> None:
    assert len(client.ncores()) == 2
    whole = plausibly.calibrate(CAL, LAM, calibrator="monte-carlo", combiner="ecdf")
    made = plausibly.calibrate(
        CAL.chunk(example=15), LAM.chunk(example=15), calibrator="monte-carlo", combiner="ecdf"
    )
    assert made.fingerprint == whole.fingerprint
    lazy = made.predict(NEW.chunk(example=20), 0.3)
    assert lazy.compute().identical(whole.predict(NEW, 0.3))
    lam = LAM.assign_coords(example=NEW["example"].values)
    expected = plausibly.evaluate(whole.predict(NEW, 0.3), lam).data
    assert plausibly.evaluate(lazy, lam).data.identical(expected)
    assert plausibly.evaluate(lazy, lam.chunk(example=7)).data.identical(expected)


@pytest.mark.usefixtures("client")
def test_a_worker_that_dies_changes_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def dying(block: Floats) -> Floats:
        """Kill the first worker that comes here with entries, once."""
        if block.shape[0]:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    lazy = CAL.chunk(example=15)
    lazy = lazy.copy(data=lazy.data.map_blocks(dying, dtype=np.float32, meta=lazy.data._meta))
    made = plausibly.calibrate(lazy, LAM)
    assert mark.exists()
    assert made.fingerprint == plausibly.calibrate(CAL, LAM).fingerprint


def test_the_command_asks_a_scheduler(
    client: Any,  # Any: as above
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    CAL.to_dataset(name="p").to_zarr("p.zarr", zarr_format=2)
    write_plausibilities(LAM, "lam.nc")
    calibrate = "calibrate --plausibilities lam.nc -p p.zarr -o"
    done(f"{calibrate} whole.nc")
    chunks = "--set compute.chunks=15 --set compute.scheduler"
    for scheduler in (client.scheduler.address, "local"):
        done(f"{calibrate} made.nc {chunks}={scheduler}")
        assert Path("made.nc").read_bytes() == Path("whole.nc").read_bytes()
        Path("made.nc").unlink()


def test_a_cluster_is_asked_how_far_it_is(
    client: Any,  # Any: as above
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plausibly.cli.chunks._EVERY", 0.02)
    told: list[tuple[int, int]] = []
    assert client is not None
    with counting(15, lambda done, total: told.append((done, total))):
        plausibly.calibrate(CAL.chunk(example=15), LAM)
    parts = -(-CAL.sizes["example"] // 15)
    done, total = told[-1]
    assert done == total >= parts
    assert all(before[0] <= after[0] for before, after in pairwise(told))
    told.clear()
    with counting(None, lambda done, total: told.append((done, total))):
        plausibly.calibrate(CAL.chunk(example=15), LAM)
    assert told == []

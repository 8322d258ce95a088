"""Arrays larger than memory: who computes their chunks, and how many are done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from plausibly.cli.options import unfit
from plausibly.cli.output import Tick
from plausibly.config.settings import Compute
from plausibly.errors import InputError


@contextlib.contextmanager
def computing(compute: Compute, *, dry_run: bool = False) -> Iterator[None]:
    """Have chunks computed by a scheduler, and close what was opened for it."""
    scheduler = compute.scheduler
    if compute.chunks is None:
        if scheduler is not None:
            raise unfit(
                "compute.scheduler",
                "without chunks",
                expected="chunks to compute",
                found=f"compute.scheduler = {scheduler}",
                hint="--set compute.chunks=50000, or leave compute.scheduler out",
            )
        yield
        return
    from plausibly.extras import require

    config = require("dask", extra="dask", source="compute.chunks").config
    with contextlib.ExitStack() as stack:
        computes: object = "threads"
        if scheduler not in (None, "threads") and not dry_run:
            distributed = require("distributed", extra="dask", source="compute.scheduler")
            address: object = scheduler
            if scheduler == "local":
                address = stack.enter_context(
                    distributed.LocalCluster(threads_per_worker=1, dashboard_address="127.0.0.1:0")
                )
            try:
                # One that fails would stay behind as the default of all that is computed later.
                client = distributed.Client(address, timeout="10s", set_as_default=False)
            except (OSError, ValueError) as reason:
                raise InputError(
                    "scheduler-unreachable",
                    f"no Dask scheduler answers at {scheduler}",
                    expected="local, threads, or an address such as tcp://127.0.0.1:8786",
                    found=" ".join(str(reason).split())[:120],
                    hint="start one (dask scheduler), or --set compute.scheduler=local",
                    source="compute.scheduler",
                ) from reason
            computes = stack.enter_context(client)
        stack.enter_context(config.set(scheduler=computes))
        yield


@contextlib.contextmanager
def counting(chunks: int | None, tick: Tick) -> Iterator[None]:
    """Count the tasks that threads of this process have finished, and all of them."""
    if chunks is None:
        yield
        return
    from plausibly.extras import require

    callbacks = require("dask.callbacks", extra="dask", source="compute.chunks")

    def after(_key: object, _result: object, _graph: object, state: object, _by: object) -> None:
        if isinstance(state, dict):
            left = sum(len(state[name]) for name in ("ready", "waiting", "running"))
            tick(len(state["finished"]), len(state["finished"]) + left)

    with callbacks.Callback(posttask=after):
        yield

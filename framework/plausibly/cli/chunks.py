"""Arrays larger than memory: who computes their chunks, and how many are done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

from plausibly.cli.options import unfit
from plausibly.cli.output import Tick
from plausibly.config.settings import Compute
from plausibly.errors import InputError

_EVERY = 0.5  # seconds between two questions to a scheduler


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
        if scheduler not in (None, "threads") and not (dry_run and scheduler == "local"):
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
    """Tell of every task that is finished, and of how many there are."""
    if chunks is None:
        yield
        return
    from plausibly.extras import require

    scheduler = require("dask.base", extra="dask", source="compute.chunks").get_scheduler()
    if (client := getattr(scheduler, "__self__", None)) is not None:
        with _counting_there(client, tick):
            yield
        return
    callbacks = require("dask.callbacks", extra="dask", source="compute.chunks")

    def after(_key: object, _result: object, _graph: object, state: object, _by: object) -> None:
        if isinstance(state, dict):
            left = sum(len(state[name]) for name in ("ready", "waiting", "running"))
            tick(len(state["finished"]), len(state["finished"]) + left)

    with callbacks.Callback(posttask=after):
        yield


@contextlib.contextmanager
def _counting_there(client: Any, tick: Tick) -> Iterator[None]:  # Any: of a package without hints
    """Ask a Dask scheduler now and then how many tasks its processes have finished."""

    def counts(dask_scheduler: Any) -> tuple[int, int]:  # Any: as above
        # Sent as it is: the scheduler need not have plausibly.
        kinds = [prefix.state_counts for prefix in dask_scheduler.task_prefixes.values()]
        return sum(prefix["memory"] for prefix in kinds), sum(prefix["waiting"] for prefix in kinds)

    def tell() -> None:
        # A scheduler that does not answer costs the count alone: the computation fails as well.
        with contextlib.suppress(Exception):
            done, total = client.run_on_scheduler(counts)
            if not before:
                before.extend((done, total))
            elif total > before[1]:
                tick(done - before[0], total - before[1])

    def repeat() -> None:
        while not over.wait(_EVERY):
            tell()

    before: list[int] = []
    tell()
    over = Event()
    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
        tell()
    finally:
        over.set()
        thread.join()

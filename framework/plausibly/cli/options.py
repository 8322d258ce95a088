"""Flags of commands, each with the key that it sets; its type, default and help are the key's."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs
import typer

from plausibly.cli import completion
from plausibly.cli.output import Output, Tick
from plausibly.config.load import NAME, Draft, Key, key, load, split
from plausibly.config.settings import Compute
from plausibly.errors import InputError


@attrs.frozen
class Flag:
    """A flag, or an argument where the name has no dash."""

    names: str
    key: str
    metavar: str = ""
    offer: Callable[..., object] | None = None
    required: bool = False
    about: str = ""  # in place of the meaning of the key

    @property
    def long(self) -> str:
        return self.names.split()[0]

    @property
    def parameter(self) -> str:
        return self.long.lstrip("-").replace("-", "_").lower()

    def needed(self) -> Flag:
        return attrs.evolve(self, required=True)

    def option(self) -> Any:  # Any: as Typer declares it
        known = key(self.key)
        takes: Any = (bool if bool in known.arms else str) | None  # Any: known at run time only
        if known.many or known.pairs:
            takes = list[str] | None
        values = [v for arm in known.arms if get_origin(arm) is Literal for v in get_args(arm)]
        more: dict[str, Any] = {  # Any: what Typer takes
            "metavar": self.metavar or None,
            "help": _help(known, self.about),
            "autocompletion": self.offer or (completion.choices(values) if values else None),
            "show_default": False,
        }
        if not self.long.startswith("-"):
            return Annotated[takes, typer.Argument(**more)]
        return Annotated[takes, typer.Option(*self.names.split(), **more)]


def _help(known: Key, about: str) -> str:
    """Return the meaning of a key with its default: ``Random seed.  [0]``."""
    text, _, otherwise = known.help.partition(" None: ")
    default = known.default
    if isinstance(default, tuple):
        default = ", ".join(map(str, default))
    if default is None or default is attrs.NOTHING or default is False:
        default = otherwise.rstrip(".")
    shown = str(default) if isinstance(default, str | int | float | Decimal | Path) else ""
    return f"{about or text}  [{shown}]" if shown else about or text


def _column(names: str, path: str) -> Flag:
    return Flag(names, path, "COLUMN", completion.columns("examples"))


def _component(name: str, kind: str, path: str) -> Flag:
    return Flag(name, path, "NAME", completion.components(kind))


ANNOTATIONS = Flag("--annotations -a", "annotations.path", "FILE")
PREDICTIONS = Flag("--predictions -p", "predictions.path", "FILE")
EXAMPLES = Flag("--examples -e", "examples.path", "FILE")
PLAUSIBILITIES = Flag("--plausibilities", "plausibilities.path", "FILE")
NEW_ANNOTATIONS = Flag("--annotations -a", "new.annotations", "FILE")
NEW_PREDICTIONS = Flag("--predictions -p", "new.predictions", "FILE")
NEW_EXAMPLES = Flag("--examples -e", "new.examples", "FILE")
NEW_PLAUSIBILITIES = Flag("--plausibilities", "new.plausibilities", "FILE")
LABELS = Flag("--labels", "labels.path", "FILE")
PREDICTOR = Flag("--predictor", "output.predictor", "FILE")
READER = _component("--reader", "reader", "annotations.reader")
COLUMNS = Flag("--columns", "annotations.columns", "MAP")
MISSING = Flag("--missing", "annotations.missing", "LABEL")
CALIBRATOR = _component("--calibrator", "calibrator", "method.calibrator")
COMBINER = _component("--combiner", "combiner", "method.combiner")
SCORE = _component("--score", "score", "method.score")
AGGREGATOR = _component("--aggregator", "aggregator", "annotations.aggregator")
ALPHA = Flag("--alpha", "alphas", "RATE,...")
SEED = Flag("--seed", "seed", "N")
CHUNKS = Flag("--chunks", "compute.chunks", "N")
BY = _column("--by", "evaluation.by")
BY_GROUP = _column("--by", "agreement.by")
LABEL_COLUMNS = completion.columns("labels")
TRUE_LABEL = _column("--true-label", "evaluation.true_label")
CLUSTER = _column("--cluster", "examples.cluster")
FORMAT = (READER, COLUMNS, MISSING)


def out(path: str, metavar: str = "FILE", about: str = "") -> Flag:
    return Flag("--out -o", path, metavar, about=about)


def check_required(flags: Iterable[Flag], loaded: Draft, name: str) -> None:
    command = f"plausibly {name}"
    for flag in flags:
        if flag.required and not loaded.has(flag.key):
            names = " / ".join(f"'{name}'" for name in flag.names.split())
            what = f"{command}: missing option {names}"
            raise InputError("usage", what, hint=f"{command} --help", source=command)


def unfit(option: str, why: str, *, expected: str, hint: str, found: str = "") -> InputError:
    return InputError(
        "option-unfit",
        f"{option} has no meaning {why}",
        expected=expected,
        found=found or option,
        hint=hint,
        source=option,
    )


def check_answers(loaded: Draft, *, new: bool = False) -> None:
    """Raise unless one file holds the answers."""
    forms = ("annotations", "plausibilities")
    there = [form for form in forms if loaded.has(f"new.{form}" if new else f"{form}.path")]
    if len(there) != 1:
        raise InputError(
            "answers-missing",
            "two files hold the answers" if there else "no file holds the answers",
            expected="annotations (-a) or plausibilities (--plausibilities)",
            found="both" if there else "neither",
            hint="leave one out" if there else "-a votes.csv",
        )


def found_without_flags(loaded: Draft, key: str) -> bool:
    """Return whether the next command finds a key in the settings file of the folder."""
    return loaded.document.path == Path(NAME) and loaded.has(key) and not loaded.typed


def inputs(groups: Mapping[str, tuple[Flag, ...]], loaded: Draft) -> dict[str, Path]:
    files = {
        flag.names.split()[-1]: attrgetter(flag.key)(loaded.settings)
        for flag in itertools.chain.from_iterable(groups.values())
        if flag.metavar == "FILE" and flag.parameter not in ("out", "sets")
    }
    return {name: path for name, path in files.items() if isinstance(path, Path)}


def load_settings(
    output: Output,
    config: Path | None,
    typed: Mapping[str, tuple[str, object]],
    sets: Sequence[str],
) -> Draft:
    from plausibly.calibration.alphas import read_alphas
    from plausibly.study.prepare import settings_file

    file = config or Path(NAME)
    document = None
    if str(config) != "none" and (config is not None or file.exists()):
        document = settings_file(file)
    if "alphas" in typed:
        read_alphas(split(typed["alphas"][1]))  # a slip is refused before anything is read
    loaded = load(document, typed, sets)
    loaded.check()
    if document is not None:
        output.document["settings"] = str(file)
        output.rows([("settings   ", str(file))])
    return loaded


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

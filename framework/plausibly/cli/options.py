"""Flags of commands, each with the key that it sets; its type, default and help are the key's."""

from __future__ import annotations

import contextlib
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
from plausibly.config.settings import Compute, Settings
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
    def short(self) -> str:
        return self.names.split()[-1]

    @property
    def parameter(self) -> str:
        return self.long.lstrip("-").replace("-", "_").lower()

    def option(self) -> Any:  # Any: as Typer declares it
        known = key(self.key)
        takes: Any = (bool if bool in known.arms else str) | None  # Any: known at run time only
        if known.many or known.pairs:
            takes = list[str] | None
        values = [v for arm in known.arms if get_origin(arm) is Literal for v in get_args(arm)]
        more: dict[str, Any] = {  # Any: what Typer takes
            "metavar": "FOLDER" if self.key == "output.folder" else self.metavar or None,
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


def _column(names: str, path: str, of: str = "examples") -> Flag:
    return Flag(names, path, "COLUMN", completion.columns(of))


def _component(kind: str, path: str) -> Flag:
    return Flag(f"--{kind}", path, "NAME", completion.components(kind))


_FLAGS = {
    flag.short: flag
    for flag in (
        Flag("PREDICTOR", "output.predictor", "PREDICTOR"),
        Flag("SETS", "output.sets", "SETS"),
        Flag("--annotations -a", "annotations.path", "FILE"),
        Flag("--predictions -p", "predictions.path", "FILE"),
        Flag("--examples -e", "examples.path", "FILE"),
        Flag("--plausibilities", "plausibilities.path", "FILE"),
        Flag("--labels", "labels.path", "FILE"),
        Flag("--predictor", "output.predictor", "FILE"),
        Flag("--out -o", "output.folder", "FILE"),
        _component("reader", "annotations.reader"),
        Flag("--columns", "annotations.columns", "MAP"),
        Flag("--missing", "annotations.missing", "LABEL"),
        _component("calibrator", "method.calibrator"),
        _component("combiner", "method.combiner"),
        _component("score", "method.score"),
        _component("aggregator", "annotations.aggregator"),
        Flag("--alpha", "alphas", "RATE,..."),
        Flag("--seed", "seed", "N"),
        Flag("--chunks", "compute.chunks", "N"),
        Flag("--form", "output.form", "FORM"),
        _column("--by", "evaluation.by"),
        _column("--cluster", "examples.cluster"),
        _column("--true-label", "evaluation.true_label"),
        Flag("--fail-under", "evaluation.fail_under", "SHARE"),
        Flag("--title", "report.title", "TEXT"),
        Flag("--anonymous", "report.anonymous"),
        Flag("--splits", "splits.count", "S"),
        Flag("--within", "plan.within", "WIDTH"),
        Flag("--n", "plan.n", "N,..."),
        Flag("--draws", "plan.draws", "M,..."),
        Flag("--answers", "plan.answers", "R,..."),
        Flag("--annotators", "agreement.annotators"),
        Flag("--order", "agreement.order", "LABEL,..."),
        _column("--risk", "agreement.risk", "labels"),
        Flag("--confidence", "agreement.confidence", "SHARE"),
    )
}
FORMAT = "--reader --columns --missing"
NEW = {
    "-a": "new.annotations",
    "-p": "new.predictions",
    "-e": "new.examples",
    "--plausibilities": "new.plausibilities",
}
"""Keys of files of new examples."""


def flags_of(module: object) -> dict[str, list[Flag]]:
    """Return the flags of a command by their titles in the help.

    Its ``FLAGS`` name them; ``KEYS`` has other keys than the usual ones, ``ABOUT`` other meanings,
    and ``REQUIRED`` the flags that cannot be left out.
    """
    keys: Mapping[str, str] = getattr(module, "KEYS", {})
    about: Mapping[str, str] = getattr(module, "ABOUT", {})
    required = getattr(module, "REQUIRED", "").split()
    groups: Mapping[str, str] = getattr(module, "FLAGS", {})
    return {
        title: [
            attrs.evolve(
                _FLAGS[name],
                key=keys.get(name, _FLAGS[name].key),
                about=about.get(name, ""),
                required=name in required,
            )
            for name in names.split()
        ]
        for title, names in groups.items()
    }


def require(loaded: Draft, command: str, key: str, names: str) -> None:
    """Raise unless a key was set, or its flag typed."""
    if not loaded.has(key):
        command = f"plausibly {command}"
        option = " / ".join(f"'{name}'" for name in names.split())
        what = f"{command}: missing option {option}"
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
    """Raise unless one file holds the answers, and no option is for the other form."""
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
    unused = [flag for key, (flag, _) in loaded.typed.items() if key.startswith("annotations.")]
    if there == ["plausibilities"] and unused:
        raise unfit(
            unused[0],
            "with --plausibilities",
            expected="an option of annotations with -a",
            hint=f"leave {unused[0]} out, or read annotations: -a FILE",
        )


def found_without_flags(loaded: Draft, key: str) -> bool:
    """Return whether the next command finds a key in the settings file of the folder."""
    return loaded.document.path == Path(NAME) and loaded.has(key) and not loaded.typed


def examples_of_groups(loaded: Draft) -> tuple[object, ...]:
    """Return ``-e FILE`` for the next command where settings group by columns of the examples."""
    settings = loaded.settings
    if not settings.evaluation.columns or found_without_flags(loaded, "new.examples"):
        return ()
    return ("-e", settings.new.examples or "NEW_EXAMPLES")


def inputs(flags: Iterable[Flag], settings: Settings) -> dict[str, Path]:
    """Return the files that are read, by their flags."""
    files = {
        flag.short: attrgetter(flag.key)(settings)
        for flag in flags
        if flag.metavar == "FILE" and flag.parameter != "out"
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
                "without compute.chunks",
                expected="a number of examples to read at a time",
                found=f"compute.scheduler={scheduler}",
                hint="chunks=10000",
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
            stack.enter_context(client.as_current())  # which locks of files look for
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

"""Output of a command: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import Any, TextIO, TypeAlias

from plausibly.atomic import noting_replaced
from plausibly.cli import layout
from plausibly.errors import (
    EXIT_CHECK,
    EXIT_INTERRUPTED,
    EXIT_OURS,
    InputError,
    PlausiblyWarning,
    listed,
    render,
    visible,
)

PATIENCE = 2.0  # seconds without progress on a layout
Tick: TypeAlias = Callable[[int, int], None]  # called with the number of finished steps, and of all


_HINTS = {
    "aggregators-few": "--aggregator label-frequency --aggregator dawid-skene",
    "augmentations-missing": '-p with a row per augmentation, and augmentation="COLUMN"',
    "augmentations-unread": "--calibrator augmentation, or -p with one row per example",
}
"""Hints of messages whose arguments are no keys."""


class CheckFailed(InputError):
    exit_code = EXIT_CHECK


class Interrupted(InputError):
    exit_code = EXIT_INTERRUPTED


@dataclass(eq=False)
class Output:
    command: str
    json: bool = False
    quiet: bool = False
    strict: bool = False
    debug: bool = False
    document: dict[str, object] = field(default_factory=dict, init=False)
    flags: Collection[str] = field(default=(), init=False)
    _warned: dict[str, PlausiblyWarning] = field(default_factory=dict, init=False)
    _waiting: list[PlausiblyWarning] = field(default_factory=list, init=False)

    def show(self, text: str) -> None:
        """Print a result for people on stdout, after the warnings that led to it."""
        self.flush()
        if not (self.json or self.quiet):
            _print(text, layout.results())

    def rows(self, rows: Iterable[layout.Row]) -> None:
        self.show(layout.fields(rows))

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for warning in waiting:
            if not self.quiet:
                _print(render(warning), sys.stderr)

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[Tick]:
        """Show progress on a terminal after `PATIENCE` seconds, and erase it at the end."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        # Only now: ``--help`` imports this module, and the bar imports more than help needs.
        from plausibly.progress import Bar

        bar = Bar(what)
        timer = Timer(PATIENCE, bar.start)
        timer.daemon = True
        timer.start()
        try:
            yield bar.tick
        finally:
            timer.cancel()
            bar.stop()

    def run(self, action: Callable[[], int | None], *, apart: bool = True) -> int:
        failure: InputError | None = None
        code = 0
        own_output = layout.aside() if apart else contextlib.nullcontext()
        with self._collecting(), noting_replaced() as replaced, own_output:
            try:
                code = action() or 0
                if self.strict and self._warned:
                    names = listed(sorted({warning.name for warning in self._warned.values()}))
                    raise CheckFailed(
                        "warnings-strict",
                        f"plausibly {self.command} warned of {names}",
                        expected="no warning (--strict)",
                        found=str(len(self._warned)),
                        hint="fix what they name, or leave --strict out",
                    )
            except InputError as error:
                self._in_options(error)
                failure = error
            except KeyboardInterrupt as error:
                failure = Interrupted(
                    "interrupted",
                    f"plausibly {self.command} was stopped",
                    hint="run it again; every file is whole, or as it was",
                )
                failure.__cause__ = error
            except OSError as error:  # of a path that is too long, or a full disk
                failure = InputError(
                    "file-unreadable",
                    f"{str(error.filename or 'the output')[:40]}: {error.strerror or error}",
                    expected="a place that can be read and written",
                    hint="name another file",
                )
                failure.__cause__ = error
            except BaseException as error:  # noqa: BLE001  # all errors are printed in one form
                failure = InputError(
                    "unexpected",
                    ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split())))),
                    expected="no such error: the fault is ours, or a plugin's",
                    hint="run again with --debug, and report what it prints",
                    source="plausibly",
                )
                failure.exit_code = EXIT_OURS
                failure.__cause__ = error
        self.flush()
        if replaced:
            here = Path.cwd()
            shown = [str(p.relative_to(here) if p.is_relative_to(here) else p) for p in replaced]
            self.document["replaced"] = shown
            if not (self.json or self.quiet):
                _print(layout.fields([("replaced", ", ".join(shown))]), sys.stderr)
        # A command that has no document of its own prints one only to state an error.
        if self.json and (self.document or failure is not None):
            self._print_document(failure)
        if failure is not None:
            code = failure.exit_code
            if self.debug:
                trace = "".join(traceback.format_exception(failure)).rstrip()
                _print(visible(trace), sys.stderr, styled=False)
            _print(str(failure), sys.stderr)
        return code

    def _in_options(self, message: InputError | PlausiblyWarning) -> None:
        from plausibly.config.hints import as_options

        message.hint = as_options(_HINTS.get(message.name, message.hint), self.flags, self.command)

    @contextlib.contextmanager
    def _collecting(self) -> Iterator[None]:
        """Collect our warnings, each once; those of others go where they always go."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", PlausiblyWarning)
            others = warnings.showwarning

            # Any: as `showwarning` is called
            def collect(message: Warning | str, *place: Any, **more: Any) -> None:
                if not isinstance(message, PlausiblyWarning):
                    others(message, *place, **more)
                    return
                self._in_options(message)
                if (text := render(message)) not in self._warned:
                    self._warned[text] = message
                    self._waiting.append(message)

            warnings.showwarning = collect
            yield

    def _print_document(self, failure: InputError | None) -> None:
        document: dict[str, object] = {"command": self.command, **self.document}
        document["warnings"] = [warning.fields() for warning in self._warned.values()]
        if failure is not None:
            document["error"] = {**failure.fields(), "exit": failure.exit_code}
        stream = layout.results()
        encoding = (getattr(stream, "encoding", None) or "ascii").lower()
        ascii_ = not encoding.startswith("utf")
        text = json.dumps(_plain(document), indent=2, ensure_ascii=ascii_, allow_nan=False)
        _print(text, stream, styled=False)


def _plain(value: object) -> object:
    """Return what JSON can hold: None for NaN, text for infinities, paths and all else."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy, which must not be imported here
        return _plain(value.tolist())
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _print(text: str, stream: TextIO, *, styled: bool = True) -> None:
    """Print text: for people in the colours and width of a terminal, for programs exactly."""
    try:
        text = visible(text) if styled else text
        if styled and layout.is_styled(stream):
            layout.print_styled(text, stream)
        else:
            print(text, file=stream, flush=True)
    except BrokenPipeError:
        # A reader such as ``head`` has seen enough. What Python flushes at exit goes nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

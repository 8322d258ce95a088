"""Output of a command: results on stdout, messages and progress on stderr; its files."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeAlias

import typer

from plausibly.atomic import check_writable, noting_replaced, unwritable
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
Tick: TypeAlias = Callable[
    [int, int], object
]  # called with the number of finished steps, and of all


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
    inputs: Mapping[str, Path] = field(default_factory=dict, init=False)
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
        from plausibly.progress import bar

        with bar(what, after=PATIENCE) as tick:
            yield tick

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
                failure = _unreadable(error)
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
            try:
                self._print_document(failure)
            except OSError as error:
                failure = failure or _unreadable(error)
        if failure is not None:
            code = failure.exit_code
            if self.debug:
                trace = "".join(traceback.format_exception(failure)).rstrip()
                _print(visible(trace), sys.stderr, styled=False)
            _print(str(failure), sys.stderr)
        try:
            layout.results().flush()
        except OSError:  # Python would fail again, and end with a code of its own
            _drop(layout.results())
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


def _unreadable(error: OSError) -> InputError:
    failure = InputError(
        "file-unreadable",
        f"{error.filename or 'the output'}: {error.strerror or error}",
        expected="a place that can be read and written",
        hint="name another file",
    )
    failure.__cause__ = error
    return failure


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
        _drop(stream)  # a reader such as ``head`` has seen enough


def _drop(stream: TextIO) -> None:
    """Let what a stream still holds, which Python writes at exit, go nowhere."""
    with contextlib.suppress(OSError):  # one without a place
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


DryRun: TypeAlias = Annotated[
    bool,
    typer.Option("--dry-run", help="Check everything, say what would be done; write nothing."),
]


def show_dry_run(
    output: Output,
    *,
    read: Mapping[str, Path | None],
    rows: Iterable[layout.Row] = (),
    would: str,
    write: Iterable[Path] = (),
    into: Path | None = None,
) -> None:
    inputs = {flag: path for flag, path in read.items() if path is not None}
    outputs = list(write)
    if into is not None:
        check_writable(into, below=True)
    for path in outputs if into is None or into.exists() else ():
        check_writable(path)
    output.document["dry_run"] = {
        "read": {
            flag: {"path": path, "bytes": layout.bytes_of(path)} for flag, path in inputs.items()
        },
        "would": would,
        "would_write": [
            {"path": path, "replaces_bytes": layout.bytes_of(path) if path.exists() else None}
            for path in outputs
        ],
    }
    places = [
        f"{path} ({f'in place of {layout.size(path)}' if path.exists() else 'new'})"
        for path in outputs
    ]
    output.rows(
        [
            ("dry run", "what can be checked is right; nothing was written"),
            ("read", "; ".join(f"{f} {p} ({layout.size(p)})" for f, p in inputs.items())),
            *rows,
            ("would do", would),
            ("would write", "; ".join(places)),
            ("next", "the same without --dry-run"),
        ]
    )


def check_free(path: Path, hint: str) -> None:
    if path.exists() or path.is_symlink():
        raise InputError(
            "output-exists",
            f"{path} is there already, and was left as it is",
            expected="a path where nothing is yet",
            found="a folder" if path.is_dir() else "a file",
            hint=hint,
            source=str(path),
        )


def check_path(path: Path, inputs: Mapping[str, Path | None]) -> None:
    """Raise unless the output has a name, and is none of the files that are read."""
    try:
        if path.name in ("", ".."):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as reason:  # no name, one that is too long, or with a NUL
        raise unwritable(path, reason) from reason
    for flag, source in inputs.items():
        if source is not None and path.resolve() == source.resolve():
            raise InputError(
                "output-is-input",
                f"-o {path} would overwrite what {flag} reads",
                expected="another file",
                found=str(path),
                hint="-o elsewhere",
                source=str(path),
            )

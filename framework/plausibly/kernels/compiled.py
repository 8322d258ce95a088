"""Loops compiled by numba: where it is installed, works, and there is enough to do.

Nothing depends on it but time: the loops give the bits of the kernels in numpy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Argument: TypeAlias = "NDArray[np.generic] | int"
Loop: TypeAlias = Callable[..., None]


@attrs.define(eq=False)
class Compiler:
    """What this process knows of numba.

    Attributes
    ----------
    worth, worth_imported : int
        Scores or queries of a process from which on it is used, and where it is imported already.
        Each is done 5 to 10 ns sooner; importing numba and loading what it has compiled takes half
        a second, loading alone less than a tenth of that.
    problem : str
        Why it is not used though it is installed, empty as long as nothing is known to be wrong.
    """

    worth: int = 1 << 26
    worth_imported: int = 1 << 23
    problem: str = ""
    _done: int = 0
    _there: bool | None = None
    _made: dict[tuple[object, ...], Loop] = attrs.field(factory=dict)
    _lock: Lock = attrs.field(factory=Lock)

    def wanted(self, items: int) -> bool:
        """Return whether loops are worth compiling for some scores more.

        Parameters
        ----------
        items : int
            How many; they add up over a process, which does not know what will be asked of it:
            numba is imported once as much was done without it as makes up for that.
        """
        self._done += items
        worth = self.worth_imported if "numba" in sys.modules else self.worth
        if self._done < worth or self.problem:
            return False
        if self._there is None:  # looking for it takes longer than a small question
            self._there = installed()
        return self._there

    def run(self, loop: Loop, *arguments: Argument, written: int = 1) -> bool:
        """Run a loop compiled, unless that cannot be: then nothing was done.

        Parameters
        ----------
        loop : callable
            A function of `plausibly.kernels.loops`.
        *arguments : ndarray, int or bool
        written : int
            How many of the last arguments are written to.

        Returns
        -------
        bool
            False where numba does not work, another thread is compiling, or an array lies in memory
            as numba does not read it.
        """
        if not all(isinstance(one, int) or one.flags.aligned for one in arguments):
            return False
        key = (loop, *map(_kind, arguments))
        made = self._made.get(key)
        if made is None:
            if self.problem or not self._lock.acquire(blocking=False):
                return False
            try:
                made = self._made[key] = _compiled(loop, arguments, written)
            except Exception as error:  # noqa: BLE001  # whatever is wrong, numpy remains
                self.problem = _said(error)
                return False
            finally:
                self._lock.release()
        made(*arguments)
        return True


NUMBA = Compiler()


def installed() -> bool:
    """Return whether numba is there, whether it works or not; it is not imported."""
    return "numba" in sys.modules or find_spec("numba") is not None


def trouble() -> str:
    """Return why numba, which is installed, cannot be used; empty where it can. It is imported."""
    try:
        _numba()
    except Exception as error:  # noqa: BLE001  # a broken library may raise anything
        return _said(error)
    return ""


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0].removesuffix(": ")


def _numba() -> ModuleType:
    numba = import_module("numba")
    if numba.config.DISABLE_JIT:
        raise RuntimeError("NUMBA_DISABLE_JIT is set")
    return numba


def _kind(argument: Argument) -> tuple[object, ...]:
    """Return what code is compiled for: numbers and layout of an array."""
    if isinstance(argument, int):
        return (type(argument),)
    return argument.dtype, argument.ndim, bool(argument.flags.c_contiguous)


def _compiled(loop: Loop, arguments: tuple[Argument, ...], written: int) -> Loop:
    """Return a loop compiled for arguments of these kinds, from a folder of earlier ones if it can.

    numba keeps what it compiled beside the file of the loop, or where that is not writable in a
    folder of the user.
    """
    numba = _numba()
    read = len(arguments) - written
    signature = numba.void(*(_type(numba, one, at < read) for at, one in enumerate(arguments)))
    try:
        made: Loop = numba.njit(signature, nogil=True, cache=True)(loop)
    # No folder to keep it in, a full one, or what this numba cannot read.
    except Exception:  # noqa: BLE001  # each has its own error, and what remains is tried again
        made = numba.njit(signature, nogil=True)(loop)
    return made


def _type(numba: ModuleType, argument: Argument, read_only: bool) -> object:
    """Return the type of an argument; arrays that are only read may be read-only."""
    if isinstance(argument, int):
        return numba.types.boolean if isinstance(argument, bool) else numba.types.int64
    of = numba.from_dtype(argument.dtype)
    layout = "C" if argument.flags.c_contiguous else "A"
    return numba.types.Array(of, argument.ndim, layout, readonly=read_only)

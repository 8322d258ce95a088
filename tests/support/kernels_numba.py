"""Stand-ins for numba: one whose compiler leaves functions as they are, and broken ones."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import numpy as np

Loop = Callable[..., None]


def stand_in(
    *, calls: list[str] | None = None, fails: Callable[[bool], bool] = lambda cache: False
) -> ModuleType:
    """Return a module that the product takes for numba.

    Parameters
    ----------
    calls : list of str
        Gets the name of each loop that is run.
    fails : callable
        Says whether compiling fails, with a cache or without.
    """
    ran = [] if calls is None else calls

    def njit(signature: object, *, nogil: bool, cache: bool = False) -> Callable[[Loop], Loop]:
        assert nogil
        if fails(cache):
            raise RuntimeError("cannot cache function: no locator available")

        def compiled(loop: Loop) -> Loop:
            def run(*arguments: object) -> None:
                ran.append(loop.__name__)
                loop(*arguments)

            return run

        return compiled

    def array(of: object, ndim: int, layout: str, *, readonly: bool) -> tuple[object, ...]:
        return of, ndim, layout, readonly

    made = ModuleType("numba")
    made.__dict__.update(
        njit=njit,
        void=lambda *types: types,
        from_dtype=np.dtype,
        config=SimpleNamespace(DISABLE_JIT=0),
        types=SimpleNamespace(Array=array, boolean="boolean", int64="int64"),
    )
    return made

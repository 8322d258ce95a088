"""With numba all bits are those of numpy; without it, or with a broken one, nothing is amiss.

CI has no numba: there the same loops run as plain Python.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels_numba import stand_in
from plausibly import registry
from plausibly.arrays import Floats
from plausibly.kernels import compiled, loops, places, rank, threads
from plausibly.kernels.compiled import NUMBA, Compiler
from plausibly.kernels.rank import Ranks, Side
from plausibly.plugin import SCORE
from scores_oracles import made, rows_of_sixteenths, uneven_rows

SIDES: tuple[Side, ...] = ("left", "right")
CASES = ("rank", "aps", "aps, randomised", "raps", "raps, randomised", "saps, randomised")
FLOATS = {
    np.float32: st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
    np.float64: st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
}
REAL = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what is known of numba in this process, before and after."""
    for name, value in (("problem", ""), ("_done", 0), ("_there", None), ("_made", {})):
        monkeypatch.setattr(NUMBA, name, value)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put a stand-in in numba's place, and return the names of the loops that it ran."""
    calls: list[str] = []
    monkeypatch.setitem(sys.modules, "numba", stand_in(calls=calls))
    return calls


@pytest.fixture(params=["plain Python", pytest.param("numba", marks=REAL)])
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile for whatever size, with the stand-in and with numba where it is."""
    if request.param == "plain Python":
        monkeypatch.setitem(sys.modules, "numba", stand_in())
    for name in ("worth", "worth_imported"):
        monkeypatch.setattr(NUMBA, name, 0)
    for name, value in (("_LEAST_POOL", 1), ("_LEAST_QUERIES", 0), ("_BLOCK", 7)):
        monkeypatch.setattr(rank, name, value)
    yield
    assert NUMBA._made or not NUMBA._done
    assert NUMBA.problem == ""


def plainly(case: str, rows: Floats, uniform: Floats | None) -> Floats:
    """Return the scores by the kernels in numpy alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NUMBA, "problem", "not now")
        return made(case).score(rows, uniform)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_ranks_of_any_floats(
    dtype: type[np.float32] | type[np.float64], data: st.DataObject
) -> None:
    pool = np.sort(data.draw(hnp.arrays(dtype, st.integers(1, 40), elements=FLOATS[dtype])))
    others = data.draw(hnp.arrays(dtype, st.integers(0, 20), elements=FLOATS[dtype]))
    with np.errstate(over="ignore"):  # past the largest float comes infinity
        queries = np.concatenate([pool, np.nextafter(pool, dtype(np.inf)), others])
    pool.flags.writeable = queries.flags.writeable = False
    for side in SIDES:
        found = Ranks(pool).of(queries, side)
        assert (found == np.searchsorted(pool, queries, side=side)).all()
        apart = Ranks(pool).of(queries[::2], side)
        assert (apart == found[::2]).all()


@pytest.mark.usefixtures("compiler")
def test_ranks_in_a_large_pool_and_none() -> None:
    generator = np.random.default_rng(3)
    pool = np.sort(generator.beta(0.1, 2, 2_000).astype(np.float32))
    queries = generator.choice(pool, 1_000)
    for side in SIDES:
        found = Ranks(pool).of(queries, side)
        assert (found == np.searchsorted(pool, queries, side=side)).all()
        assert Ranks(pool).of(queries[:0], side).shape == (0,)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
@given(data=rows_of_sixteenths())
def test_scores_with_ties_and_zeros(case: str, dtype: type, data: tuple[Floats, Floats]) -> None:
    thirds, uniform = data[0] / 3, data[1]  # which are rounded
    rows: Floats = thirds.astype(dtype)
    assert made(case).score(rows, uniform).tobytes() == plainly(case, rows, uniform).tobytes()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("labels", [1, 2, 10, 32, 33, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_few_and_of_many_labels(
    dtype: type[np.float32] | type[np.float64], labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks that end amid the rows, some of which have ties, no number or a zero's sign."""
    for name in ("_CELLS", "_FEW_CELLS"):
        monkeypatch.setattr(places, name, 9 * labels)
    rows, uniform = uneven_rows(40, labels, 5, dtype)
    rows[3] = rows[3, 0]
    rows[11, -1] = np.nan
    rows.flags.writeable = False
    signed = np.where(rows < 0.01, dtype(-0.0), rows)
    for given_rows in (rows, signed, np.asfortranarray(rows)[::-1]):
        for case in CASES:
            found = made(case).score(given_rows, uniform)
            np.testing.assert_array_equal(found, plainly(case, given_rows, uniform))


@pytest.mark.usefixtures("compiler")
def test_the_number_of_threads_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_CELLS", 50)
    rows, _ = uneven_rows(80, 10, 7, np.float32)
    pool, queries = np.sort(rows[:40], axis=None), rows[40:].ravel()
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        scores, ranks = made("aps").score(rows, None), Ranks(pool).of(queries, "right")
        found.append((scores.tobytes(), ranks.tobytes()))
    assert found[0] == found[1] == found[2]


def test_what_is_compiled(ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NUMBA, "worth_imported", 0)
    score = registry.resolve(SCORE, "aps")
    score.score(uneven_rows(3, 4, 1)[0], None)
    assert ran == ["exchange", "put"]
    score.score(uneven_rows(3, 40, 1)[0], None)
    assert ran[2:] == ["sums_before", "put"]


class TestWhenItIsWorthIt:
    @pytest.fixture(autouse=True)
    def not_imported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "numba", raising=False)

    def test_work_adds_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compiled, "installed", lambda: True)
        one = Compiler(worth=100, worth_imported=10)
        assert [one.wanted(40) for _ in range(4)] == [False, False, True, True]

    def test_less_where_somebody_has_imported_it(self, ran: list[str]) -> None:
        one = Compiler(worth=100, worth_imported=10)
        assert [one.wanted(4) for _ in range(4)] == [False, False, True, True]

    def test_without_it_it_is_looked_for_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = iter([False])
        monkeypatch.setattr(compiled, "installed", lambda: next(answers))
        one = Compiler(worth=100)
        assert not any(one.wanted(1000) for _ in range(3))

    def test_not_once_it_failed(self, ran: list[str]) -> None:
        assert not Compiler(worth_imported=10, problem="it failed").wanted(1000)


def doubled(one: Compiler) -> bool:
    """Run a loop on two rows, and return whether it ran; what it writes is looked at."""
    values, labels = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1, 0], [0, 1]], np.uint8)
    out = np.full((2, 2), -1.0)
    done = one.run(loops.put, values, labels, out)
    assert out.tolist() == ([[2.0, 1.0], [3.0, 4.0]] if done else [[-1.0] * 2] * 2)
    return done


class TestBroken:
    def test_a_cache_that_cannot_be_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module = stand_in(fails=lambda cache: cache)
        monkeypatch.setitem(sys.modules, "numba", module)
        assert doubled(Compiler())

    def test_it_does_not_compile(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "numba", stand_in(fails=lambda cache: True))
        one = Compiler()
        assert not doubled(one)
        assert one.problem == "RuntimeError: cannot cache function: no locator available"
        assert not one.wanted(1 << 60)
        assert not doubled(one)

    def test_it_cannot_be_imported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(name: str) -> object:
            raise ImportError(f"{name} needs NumPy 2.3 or less\nand more")

        monkeypatch.setattr(compiled, "import_module", fails)
        one = Compiler()
        assert not doubled(one)
        assert one.problem == "ImportError: numba needs NumPy 2.3 or less" == compiled.trouble()

    def test_it_is_told_not_to_compile(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Then its functions are plain Python, a hundred times slower than numpy."""
        module = stand_in()
        monkeypatch.setattr(module.config, "DISABLE_JIT", 1)
        monkeypatch.setitem(sys.modules, "numba", module)
        assert compiled.trouble() == "RuntimeError: NUMBA_DISABLE_JIT is set"
        assert not doubled(Compiler())

    def test_scores_are_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("worth", "worth_imported"):
            monkeypatch.setattr(NUMBA, name, 0)
        monkeypatch.setitem(sys.modules, "numba", stand_in(fails=lambda cache: True))
        rows, _ = uneven_rows(9, 6, 2)
        assert made("aps").score(rows, None).tobytes() == plainly("aps", rows, None).tobytes()

    def test_while_another_thread_compiles(self, ran: list[str]) -> None:
        one = Compiler()
        with one._lock:
            assert not doubled(one)
        assert doubled(one)
        assert one.problem == ""

    def test_numbers_across_the_steps_of_memory(self, ran: list[str]) -> None:
        values = np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64).reshape(2, 1)
        out = np.ones((2, 1))
        assert not Compiler().run(loops.put, values, np.zeros((2, 1), np.uint8), out)
        assert ran == []


@REAL
def test_numba_is_imported_for_large_work_only() -> None:
    code = (
        "import sys, numpy as np\n"
        "from plausibly.kernels import compiled\n"
        "from plausibly.kernels.rank import Ranks\n"
        "pool = np.sort(np.random.default_rng(0).random(5000))\n"
        "wanted = np.searchsorted(pool, np.tile(pool, 20), side='right')\n"
        "for worth in (compiled.NUMBA.worth, 0):\n"
        "    compiled.NUMBA.worth = worth\n"
        "    assert (Ranks(pool).of(np.tile(pool, 20), 'right') == wanted).all()\n"
        "    print('numba' in sys.modules, len(compiled.NUMBA._made), compiled.NUMBA.problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0", "True", "1"]


@REAL
def test_numba_has_no_trouble() -> None:
    assert compiled.trouble() == ""

"""The checks can fail: every listed mutant does, and so does the project's code with a slip in it.

`exact_checks` holds the checks that `test_bags.py` puts the project to. Here the same checks meet
wrong rules, then the project's own code with one line replaced.
"""

from __future__ import annotations

import pytest

from exact_mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_a_mutant_goes_red(mutant: Mutant) -> None:
    with pytest.raises(AssertionError):
        mutant.run()

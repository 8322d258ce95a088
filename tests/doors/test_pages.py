"""The pages of the doors, run: every block of Python prints what the page shows."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from methods_page import run_page
from readme_world import links

PAGES = ("sklearn", "huggingface", "torch", "from_mapie")


def run(project: Path, name: str) -> list[tuple[str, str]]:
    found = run_page(project / "docs" / f"{name}.md")
    assert [printed for printed, shown in found] == [shown for printed, shown in found]
    return found


def test_scikit_learn(project: Path) -> None:
    pytest.importorskip("sklearn", reason="the page is about its estimator")
    run(project, "sklearn")


def test_hugging_face(project: Path) -> None:
    assert len(run(project, "huggingface")) == 3


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_torch(project: Path) -> None:
    assert len(run(project, "torch")) == 2


def test_from_mapie(project: Path) -> None:
    pytest.importorskip("sklearn", reason="the page is about its estimator")
    (_, one), (covered, _) = run(project, "from_mapie")
    assert "size 0.99" in one
    alone, everyone = (float(share) for share in re.findall(r"covers ([\d.]+)", covered))
    assert alone < everyone - 0.1


@pytest.mark.parametrize("name", PAGES)
def test_links_and_lines(project: Path, name: str) -> None:
    page = (project / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for link in links(page):
        assert (project / "docs" / link.partition("#")[0]).is_file(), link
    assert not [line for line in page.splitlines() if len(line) > 105 and not line.startswith("|")]


def test_pages_name_what_there_is(project: Path) -> None:
    pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")
    from plausibly.sklearn import AmbiguousConformalClassifier

    page = (project / "docs" / "sklearn.md").read_text(encoding="utf-8")
    named = vars(AmbiguousConformalClassifier)
    # Those of scikit-learn's routing are its own.
    methods = {name for name in named if not name.startswith("_") and "_request" not in name}
    parameters = set(AmbiguousConformalClassifier().get_params(deep=False))
    for name in methods | parameters:
        assert name in page, name
    for name in re.findall(r"^\| `(\w+)\(", page, re.M):
        assert hasattr(AmbiguousConformalClassifier, name), name

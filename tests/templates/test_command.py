"""``plausibly plugins new``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from cli_world import run
from plausibly.cli import plugins_new
from plausibly.cli.plugins_new import LONGEST, rendered
from plausibly.protocols import KINDS

KIND_NAMES = [kind.name for kind in KINDS]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_the_transcript(here: Path) -> None:
    ran = run("plugins", "new", "thesis-pl", "--kind", "aggregator")
    assert (ran.code, ran.err) == (0, "")
    assert [path.name for path in here.iterdir()] == ["thesis-pl"]
    titles, steps = ran.out.replace("thesis-pl/", "").split("next", 1)
    assert files(here / "thesis-pl") == set(titles.split())
    assert steps.split("\n")[0].split("; ") == ["        cd thesis-pl", "pip install -e ."]


def test_for_programs_and_in_silence(here: Path) -> None:
    document = run("plugins", "new", "glicko", "--kind", "score", "--json").document
    made = document.pop("files")
    assert (set(made), len(made)) == (files(here / "glicko"), 6)
    command = {"command": "plugins new", "folder": "glicko", "warnings": []}
    assert document == {**command, "name": "glicko", "kind": "score"}
    ran = run("plugins", "new", "silent", "--kind", "score", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("name", ["x", "a-b2-c", "keys", "true", "exception", "m" * LONGEST])
def test_any_name_makes_modules_that_can_be_read(name: str, kind: str) -> None:
    made = rendered(name, kind)
    module = name.replace("-", "_")
    assert f"{module}/{kind}.py" in made
    assert not any("$" in text for text in made.values())
    project = tomllib.loads(made["pyproject.toml"])
    assert project["project"]["entry-points"]["plausibly"] == {name: module}
    defined: list[str] = []
    imported: list[str] = []
    for path, text in made.items():
        assert max(map(len, text.splitlines()), default=0) <= 100 or not path.endswith(".py")
        if path.endswith(".py"):
            tree = ast.parse(text, path)
            defined += [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
            imported += [
                alias.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and not str(node.module).startswith(module)
                for alias in node.names
            ]
    assert defined
    assert not {*defined} & {*imported, *dir(__builtins__)}


@pytest.mark.parametrize(
    "name",
    [
        *("statistics", "numpy", "plausibly", "plausibly-builtins"),
        *("single-label", "scores", "tests", "maximum"),
        *("", "-", "7", "a--b", "a-", "-a", "é", "a.b", "a b", "lambda", "Thesis_PL", "x" * 31),
    ],
)
def test_names_that_a_plugin_cannot_have(name: str, here: Path) -> None:
    ran = run("plugins", "new", "--kind", "score", "--", name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error plugin-name: ")
    assert not list(here.iterdir())
    advice = {"Thesis_PL": "new my-thesis-pl", "statistics": "new my-statistics"}
    assert advice.get(name, "") in ran.err


def test_a_folder_of_the_same_name_is_no_module(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "glicko").mkdir()
    monkeypatch.syspath_prepend(here)
    assert run("plugins", "new", "glicko", "--kind", "score", "-o", "there").code == 0


def test_an_existing_folder_is_left_as_it_is(here: Path) -> None:
    """A file is in the screen of dry runs."""
    mine = here / "glicko" / "mine"
    mine.parent.mkdir()
    mine.write_text("mine")
    ran = run("plugins", "new", "glicko", "--kind", "score")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error output-exists: glicko is there already")
    assert "found     a folder\n" in ran.err
    assert mine.read_text() == "mine"
    ran = run("plugins", "new", "glicko", "--kind", "score", "-o", "nowhere/glicko")
    assert ran.code == 2
    assert ran.err.startswith("error output-unwritable: cannot write nowhere/glicko\n")
    assert [path.name for path in here.iterdir()] == ["glicko"]


def test_a_folder_of_its_own_and_a_command_that_can_be_pasted(here: Path) -> None:
    (here / "my code").mkdir()
    ran = run("plugins", "new", "glicko", "--kind", "score", "-o", "my code/glicko")
    assert ran.code == 0
    assert "next             cd 'my code/glicko'; pip install -e .\n" in ran.out
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    assert (here / "my code" / "glicko" / "glicko" / "score.py").is_file()


def test_no_template_without_a_kind() -> None:
    (folder,) = {Path(str(plugins_new.__file__)).parents[1] / "templates"}
    assert {path.name for path in folder.iterdir()} == {"common", *KIND_NAMES}

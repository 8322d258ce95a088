"""``plausibly config``: what a study file asks for, before anything is run."""

from __future__ import annotations

from pathlib import Path

from plausibly.cli import layout
from plausibly.cli.output import Output
from plausibly.cli.run import Study
from plausibly.config.load import NAME, load

HELP = "Settings files: check one, show every setting, or the schema for editors."


def check(output: Output, *, study: Study = None) -> int:
    """Check a settings file, and the files of a study; every mistake is listed at once.

    plausibly config check study.toml
    plausibly config check study.toml --json
    """
    from plausibly.cli import study as words
    from plausibly.config.load import SettingsError
    from plausibly.study import Prepared, prepare
    from plausibly.study.prepare import settings_file

    path = study or Path(NAME)
    try:
        with output.working(f"reading {path.name}"):
            loaded = load(settings_file(path))
            ready = prepare(loaded) if loaded.has("methods") else loaded.check()
    except SettingsError as error:
        if output.quiet:
            raise
        # The list is the result, not a failure of this command.
        output.document |= error.details
        output.show(error.listing())
        return error.exit_code
    output.document |= {"file": path.name, "mistakes": []}
    rows: list[layout.Row] = [("settings", path.name)]
    following: tuple[object, ...] = ("plausibly", "calibrate")
    if isinstance(ready, Prepared):
        output.document |= words.before(ready)
        rows = [*words.blocks(ready), ("assumptions", words.assumptions_text(ready))]
        following = ("plausibly", "run", path)
    output.rows([*rows, ("mistakes", "none"), ("next", following)])
    return 0


def show(output: Output, *, study: Study = None) -> None:
    """Show every setting, and where each value comes from.

    plausibly config show study.toml
    plausibly config show study.toml --json
    """
    from plausibly.config.document import toml_text, values_of
    from plausibly.config.load import origins, resolved
    from plausibly.study import prepare
    from plausibly.study.prepare import settings_file

    file = study or Path(NAME)
    with output.working(f"reading {file.name}"):
        loaded = load(settings_file(file))
        if loaded.has("methods"):
            ready = prepare(loaded)
            tables, origin = ready.tables(whole=True), ready.origin
        else:
            tables = resolved(loaded.check(), whole=True)
            origin = origins(loaded.document, {})
    output.document |= {
        "file": file.name,
        "study": tables,
        "values": [
            {"path": key, "value": v, "origin": "not set" if v is None else origin(key)}
            for key, v in values_of(tables)
        ],
    }
    output.show(toml_text(tables, origin).rstrip("\n"))


def schema(output: Output) -> None:
    """Print the JSON schema of settings files, with the components that are installed.

    plausibly config schema
    plausibly config schema > study.schema.json
    """
    from json import dumps

    from plausibly.config.schema import schema as made

    output.quiet = output.quiet and not output.json
    output.json = False
    output.show(dumps(made(), indent=2))


COMMANDS = {"check": check, "show": show, "schema": schema}

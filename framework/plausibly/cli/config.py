"""``plausibly config``: what a study file asks for, before anything is run."""

from __future__ import annotations

import typer

from plausibly.cli import common, layout
from plausibly.cli.output import Output
from plausibly.cli.run import Study

HELP = "Study files: check one, show all that it asks for, or the schema for editors."
HELP_CHECK = "Check a study file and every file that it names; every mistake is told at once."
HELP_SHOW = "Show a study with everything filled in, and where each value comes from."
HELP_SCHEMA = "Print the JSON schema of study files, with the components that are installed."
CHECK_EXAMPLES = """\b
Examples:
  plausibly config check study.toml
  plausibly config check study.toml --json
"""
SHOW_EXAMPLES = """\b
Examples:
  plausibly config show study.toml
  plausibly config show study.toml --json
"""
SCHEMA_EXAMPLES = """\b
Examples:
  plausibly config schema
  plausibly config schema > study.schema.json
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("check", help=HELP_CHECK, epilog=CHECK_EXAMPLES)
def check(
    study: Study,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    strict: common.Strict = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly config check``."""
    output = Output("config check", json=json, quiet=quiet, strict=strict, debug=debug)

    def body() -> int:
        from plausibly.cli import study_words as words
        from plausibly.config.draft import StudyError
        from plausibly.study import prepare

        try:
            with output.working(f"reading {study.name}"):
                ready = prepare(study)
        except StudyError as error:
            if quiet:
                raise
            # The list is what was asked for: a result, not a failure of this command.
            output.document |= error.details
            output.show(error.listing())
            return error.exit_code
        output.document |= {"file": study.name, "mistakes": [], **words.before(ready)}
        following = layout.command_line(["plausibly", "run", study], indent=13)
        output.show(layout.fields([*words.blocks(ready), ("next", following)]))
        return 0

    return output.run(body)


@app.command("show", help=HELP_SHOW, epilog=SHOW_EXAMPLES)
def show(
    study: Study,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    strict: common.Strict = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly config show``."""
    output = Output("config show", json=json, quiet=quiet, strict=strict, debug=debug)

    def body() -> None:
        from plausibly.cli.study_words import as_data
        from plausibly.config.document import toml_text, values_of
        from plausibly.study import prepare

        with output.working(f"reading {study.name}"):
            ready = prepare(study)
        tables = ready.tables()
        output.document |= {
            "file": study.name,
            "study": as_data(tables),
            "values": [
                {
                    "path": path,
                    "value": as_data(value),
                    "origin": "not set" if value is None else ready.origin(path),
                }
                for path, value in values_of(tables)
            ],
        }
        output.show(toml_text(tables, ready.origin).rstrip("\n"))

    return output.run(body)


@app.command("schema", help=HELP_SCHEMA, epilog=SCHEMA_EXAMPLES)
def schema(
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly config schema``, which prints a document with or without ``--json``."""
    output = Output("config schema", quiet=quiet and not json, debug=debug)

    def body() -> None:
        from json import dumps

        from plausibly.config import schema

        output.show(dumps(schema.schema(), indent=2))

    return output.run(body)

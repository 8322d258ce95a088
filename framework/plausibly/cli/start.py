"""Where the command starts: a plain list of plugins comes without building the command line."""

from __future__ import annotations

import sys

from plausibly.cli.layout import tolerate

_PLAIN = frozenset({"--installed", "--json", "--quiet", "--debug"})


def main() -> int:
    words = sys.argv[1:]
    if words[:2] == ["plugins", "list"] and _PLAIN.issuperset(words[2:]):
        from plausibly.cli import plugins_list
        from plausibly.cli.output import Output

        tolerate()
        printing = {name: f"--{name}" in words for name in ("json", "quiet", "debug")}
        output = Output("plugins list", **printing)
        return output.run(lambda: plugins_list.show(output, installed="--installed" in words))
    # Typer, with what it needs, takes longer to import than all that the list needs.
    from plausibly.cli import app

    return app.main()

"""Entry point: a process of a pool imports this, and not the command line."""

from __future__ import annotations


def main() -> int:
    from plausibly.cli import app

    return app.main()

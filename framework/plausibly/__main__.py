"""``python -m plausibly`` is the command ``plausibly``."""

from __future__ import annotations

import sys

from plausibly.cli.start import main

if __name__ == "__main__":
    sys.exit(main())

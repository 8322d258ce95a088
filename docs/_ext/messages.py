"""The table of messages, from their names in the code and the causes in `messages.toml`."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

CAUSES = Path(__file__).resolve().parents[1] / "messages.toml"

_NAME = "[a-z]+(?:-[a-z]+)+|usage"
_RAISES = (
    "InputError|ComponentError|IncompatibleComponents|MissingExtra|CheckFailed|NotConformalized"
    "|AnswerRefused|PlausiblyWarning|warn|_Fault|refuse_rows|refused|cls|__init__|message|_unjoined"
)
"""Functions whose first argument is the name of a message."""


def causes() -> dict[str, tuple[str, str]]:
    """Return kind and cause of each message, by name."""
    kinds = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    return {name: (kind, cause) for kind, of in kinds.items() for name, cause in of.items()}


def messages() -> str:
    """Return the table of all messages of the code; each has a cause, and each cause a message."""
    known = causes()
    packages = filter(None, map(find_spec, ("plausibly", "plausibly_builtins")))
    files = (path for one in packages for path in Path(str(one.origin)).parent.rglob("*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    call = rf'\b(?:{_RAISES})\(\s*(?:name=)?"({_NAME})"(?:\s+if [^,]+?\s+else "({_NAME})")?,'
    raised = {name for pair in re.findall(call, code) for name in pair if name}
    if unknown := sorted(raised - known.keys()):
        raise ValueError(f"{CAUSES.name} has no cause of {', '.join(unknown)}")
    texts = set(re.findall(r'"([a-z-]+)"', code))
    ends = tuple(re.findall(r'f"\{[^{}]+\}([a-z]*-[a-z-]+)"', code))
    starts = tuple(re.findall(r'f"([a-z-]+-)\{', code))
    composed = {name for name in known if name.endswith(ends) or name.startswith(starts)}
    if unused := sorted(known.keys() - texts - composed):
        raise ValueError(f"no code has the messages {', '.join(unused)}")
    rows = (f"| `{name}` | {kind} | {cause} |" for name, (kind, cause) in sorted(known.items()))
    return "\n".join(["| name | | cause |", "|---|---|---|", *rows, ""])

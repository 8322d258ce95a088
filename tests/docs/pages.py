"""The pages of the site as text: what they link to, their sections, their prose, their menu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"

_FENCE = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2$", re.MULTILINE | re.DOTALL)
_MENU = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)")


def pages() -> list[Path]:
    """Return every page of the site."""
    return sorted(path for path in DOCS.rglob("*.md") if not path.parts[-2].startswith("_"))


def name(page: Path) -> str:
    """Return what a menu calls a page."""
    return page.relative_to(DOCS).with_suffix("").as_posix()


def without_code(text: str) -> str:
    """Return a page without its blocks of code."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    return _LINK.findall(re.sub(r"`[^`\n]*`", "`", without_code(text)))


def sections(text: str) -> set[str]:
    counts: dict[str, int] = {}
    anchors = set()
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen = counts.get(slug, 0)
        counts[slug] = seen + 1
        anchors.add(f"{slug}-{seen}" if seen else slug)
    return anchors


def menu() -> Iterator[str]:
    for body in _MENU.findall((DOCS / "index.md").read_text(encoding="utf-8")):
        lines = [line.strip() for line in body.splitlines() if line and not line.startswith(":")]
        entries = [re.sub(r"^.*<(.+)>$", r"\1", line) for line in lines]
        for entry in entries:
            if "*" not in entry:
                yield entry
                continue
            matching = (name(page) for page in sorted(DOCS.glob(f"{entry}.md")))
            yield from (page for page in matching if page not in entries)

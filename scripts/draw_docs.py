"""Draw the pictures of the pages from text and numbers; ``--write`` writes them.

==================  ===================================================================
flow.svg            the data flow, from ``docs/diagrams/flow.txt``
layers.svg          the layers, from the table in ``docs/architecture.md``
votes.svg           the toy: ambiguous points, and coverage of sets
==================  ===================================================================

They are plain SVG that is written here, so that the same text gives the same file everywhere.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

import attrs

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = DOCS / "_static" / "drawn"

INK, PAPER, EDGE, FILL, SOFT = "#222222", "#ffffff", "#767676", "#eef4fa", "#555555"
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"

_BOX = re.compile(r"^(\w+) +(\d),(\d) \| (.+?) *\| (.+)$")
_ARROW = re.compile(r"^(\w+) -> (\w+)(?:: (.+))?$")
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _EDGE = 210, 50, 90, 44, 16


@attrs.frozen
class Box:
    """A thing of a diagram, at a column and a row."""

    column: int
    row: int
    title: str
    below: str

    @property
    def left(self) -> int:
        """Return where it begins."""
        return _EDGE + self.column * (_WIDTH + _ACROSS)

    @property
    def top(self) -> int:
        """Return how far down it begins."""
        return _EDGE + self.row * (_HEIGHT + _DOWN)


def flow(source: str) -> str:
    """Return the picture of boxes and arrows that a text describes."""
    boxes: dict[str, Box] = {}
    drawn: list[str] = []
    for line in filter(None, source.splitlines()):
        if box := _BOX.match(line):
            name, column, row, title, below = box.groups()
            boxes[name] = Box(int(column), int(row), title, below)
        elif arrow := _ARROW.match(line):
            drawn.append(_arrow(boxes[arrow[1]], boxes[arrow[2]], arrow[3] or ""))
        else:
            raise ValueError(f"neither a box nor an arrow: {line}")
    for box_ in boxes.values():
        middle = box_.left + _WIDTH // 2
        drawn += [
            f'<rect x="{box_.left}" y="{box_.top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" '
            f'fill="{FILL}" stroke="{EDGE}"/>',
            _text(middle, box_.top + 21, box_.title, weight="600"),
            _text(middle, box_.top + 39, box_.below, size=12, fill=SOFT),
        ]
    width = max(box_.left for box_ in boxes.values()) + _WIDTH + _EDGE
    height = max(box_.top for box_ in boxes.values()) + _HEIGHT + _EDGE
    return _picture(width, height, "Data flow", drawn)


def _arrow(start: Box, end: Box, label: str) -> str:
    """Return a line down, sideways, or sideways from below, with its label beside it."""
    at, to = start.left + _WIDTH // 2, end.left + _WIDTH // 2
    if start.row == end.row:
        right = end.column > start.column
        begin, stop = (start.left + _WIDTH, end.left) if right else (start.left, end.left + _WIDTH)
        y = start.top + _HEIGHT // 2
        path, place = f"M{begin} {y}H{stop}", ((begin + stop) // 2, y - 7, "middle")
    elif start.column == end.column:
        begin, stop = start.top + _HEIGHT, end.top
        path, place = f"M{at} {begin}V{stop}", (at + 8, (begin + stop) // 2 + 4, "start")
    elif start.row + 1 == end.row and start.column == 1:
        y = start.top + _HEIGHT // 2
        path, place = f"M{start.left} {y}H{to}V{end.top}", (to + 8, y - 7, "start")
    else:
        y = end.top + _HEIGHT // 2
        stop = end.left if to > at else end.left + _WIDTH
        path = f"M{at} {start.top + _HEIGHT}V{y}H{stop}"
        place = (at + 8, start.top + _HEIGHT + 26, "start")
    shown = f'<path d="{path}" fill="none" stroke="{EDGE}" marker-end="url(#end)"/>'
    x, y, anchor = place
    return shown + (_text(x, y, label, size=12, fill=BLUE, anchor=anchor) if label else "")


def layers(page: str) -> str:
    """Return the picture of the table of layers in a page, the highest at the top."""
    rows = re.findall(r"^\| (\d) \| (.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    drawn: list[str] = []
    y, width = _EDGE, 850
    for number, modules, stands, libraries in reversed(rows):
        words = [*_lines(stands.replace("`", ""), 92), f"imports: {libraries.replace('`', '')}"]
        chips = re.findall(r"`(\w+)`", modules)
        shelves = _shelves(chips, width - 120)
        height = 24 + 30 * len(shelves) + 17 * len(words)
        drawn += [
            f'<rect x="{_EDGE}" y="{y}" width="{width - 2 * _EDGE}" height="{height}" rx="6" '
            f'fill="{FILL}" stroke="{EDGE}"/>',
            _text(_EDGE + 28, y + height // 2 + 9, number, size=26, fill=BLUE, weight="600"),
        ]
        below = y + 12
        for shelf in shelves:
            for left, wide, chip in shelf:
                x = 76 + left
                drawn += [
                    f'<rect x="{x}" y="{below}" width="{wide}" height="24" rx="4" '
                    f'fill="{PAPER}" stroke="{BLUE}"/>',
                    _text(x + wide // 2, below + 17, chip, size=13, family="monospace"),
                ]
            below += 30
        for word in words:
            drawn.append(_text(76, below + 14, word, size=12.5, fill=SOFT, anchor="start"))
            below += 17
        y += height + 10
    drawn.append(
        _text(width // 2, y + 14, "A module imports from its own layer or lower ones.", size=13)
    )
    return _picture(width, y + 26, "Layers", drawn)


def _shelves(chips: list[str], width: int) -> list[list[tuple[int, int, str]]]:
    found: list[list[tuple[int, int, str]]] = [[]]
    left = 0
    for chip in chips:
        wide = 18 + 8 * len(chip)
        if left + wide > width:
            found.append([])
            left = 0
        found[-1].append((left, wide, chip))
        left += wide + 8
    return found


def _lines(text: str, width: int) -> list[str]:
    found = [""]
    for word in text.split():
        if len(found[-1]) + len(word) >= width:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


def votes() -> str:
    """Return the picture of the toy: 300 points, and what two calibrations cover."""
    import plausibly
    from plausibly.demo.subjects import make_toy

    toy = make_toy(4_000, seed=1)
    half, rest = {"example": slice(0, 2_000)}, {"example": slice(2_000, None)}
    marks = ("circle", "square", "triangle")
    drawn = [_text(180, 28, "300 points, ringed where no label has .6 or more", size=13)]
    points = toy.points.values[:300]
    largest = toy.plausibilities.max("label").values
    codes = toy.plausibilities.argmax("label").values
    for (across, up), most, code in zip(points, largest[:300], codes[:300], strict=True):
        x, y = 400 * float(across) - 30, 380 - 380 * float(up)
        drawn.append(_mark(marks[int(code)], x, y, (VERMILION, GREEN, BLUE)[int(code)]))
        if most < 0.6:
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{INK}"/>')
    drawn.append(_text(600, 28, "90% sets for 2,000 other points cover", size=13))
    y = 62
    titles = (("majority-vote", "calibrated on majority votes"), ("expected", "on all answers"))
    for calibrator, name in titles:
        predictor = plausibly.calibrate(
            toy.predictions.isel(half), toy.plausibilities.isel(half), calibrator=calibrator
        )
        sets = predictor.predict(toy.predictions.isel(rest), 0.1)
        found = plausibly.evaluate(sets, toy.plausibilities.isel(rest))
        size = float(found["set_size_mean"])
        drawn.append(
            _text(400, y + 8, f"{name}: {size:.2f} labels per set", anchor="start", weight="600")
        )
        for measure, what, colour in (
            ("majority_vote_coverage_mean", "majority votes", EDGE),
            ("aggregated_coverage_mean", "all answers", BLUE),
        ):
            value = float(found[measure])
            length = 250 * value
            drawn += [
                f'<rect x="520" y="{y + 20}" width="{length:.1f}" height="22" fill="{colour}"/>',
                _text(510, y + 36, what, size=13, anchor="end"),
                _text(528, y + 36, f"{100 * value:.0f}%", size=13, fill=PAPER, anchor="start"),
            ]
            y += 30
        drawn.append(
            f'<path d="M745 {y - 46}V{y + 18}" stroke="{INK}" stroke-dasharray="4 3" fill="none"/>'
        )
        y += 70
    drawn.append(_text(745, y - 36, "90%", size=13))
    return _picture(820, 350, "Why majority votes mislead", drawn)


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    if kind == "square":
        return (
            f'<rect x="{x - 2.7:.1f}" y="{y - 2.7:.1f}" width="5.4" height="5.4" fill="{colour}"/>'
        )
    path = f"M{x:.1f} {y - 3.6:.1f}l3.6 6.4h-7.2z"
    return f'<path d="{path}" fill="{colour}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 14,
    fill: str = INK,
    anchor: str = "middle",
    weight: str = "400",
    family: str = "sans-serif",
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="{family}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'
    )


def _picture(width: int, height: int, title: str, drawn: list[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{title}</title>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{EDGE}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *drawn,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


DRAWN: Mapping[str, Callable[[], str]] = {
    "flow": lambda: flow((DOCS / "diagrams" / "flow.txt").read_text(encoding="utf-8")),
    "layers": lambda: layers((DOCS / "architecture.md").read_text(encoding="utf-8")),
    "votes": votes,
}
"""The name of each picture, and what draws it."""


def main() -> int:
    """Say which pictures differ from what they are made of, or renew them."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the pages.")
    parser.add_argument("--write", action="store_true", help="renew the pictures")
    write: bool = parser.parse_args().write
    stale = []
    for name, draw in DRAWN.items():
        path, drawn = PICTURES / f"{name}.svg", draw()
        if not path.is_file() or path.read_text(encoding="utf-8") != drawn:
            stale.append(path.name)
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(drawn, encoding="utf-8", newline="\n")
    print(f"{'renewed' if write else 'stale'}: {', '.join(stale) or 'none'}")
    return int(bool(stale) and not write)


if __name__ == "__main__":
    sys.exit(main())

"""The made world of the command line, with weights, risks and views of its examples."""

from __future__ import annotations

from pathlib import Path

from cli_world import LABELS, World, make as make_plain

VIEWS = ("original", "flipped")


def make(folder: Path, risks: str = "risks.csv") -> World:
    """Write what `cli_world.make` does, a weight of each example, risks of labels, and views."""
    world = make_plain(folder)
    world.write(risks, "label,risk\ncat,1\ndog,2\nfox,4\n")
    for patients, model, views in (
        ("patients.csv", "probabilities.csv", "views.csv"),
        ("new_patients.csv", "new.csv", "new_views.csv"),
    ):
        head, *rows = world.path(patients).read_text().splitlines()
        weighed = [f"{row},{1 + number % 3}" for number, row in enumerate(rows)]
        world.write(patients, "\n".join([f"{head},weight", *weighed]) + "\n")
        _, *rows = world.path(model).read_text().splitlines()
        lines = [f"example,view,{','.join(LABELS)}"]
        for row in rows:
            name, *numbers = row.split(",")
            lines.append(",".join([name, VIEWS[0], *numbers]))
            seen = [(float(number) + 1 / 3) / 2 for number in numbers]
            lines.append(",".join([name, VIEWS[1], *map(str, seen)]))
        world.write(views, "\n".join(lines) + "\n")
    return world

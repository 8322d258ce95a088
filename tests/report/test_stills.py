"""Without scripts the page shows figures of `plausibly.plots`, drawn of what it says in numbers."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import plausibly
from cli_world import World, make


def test_figures_are_images_in_the_page(tmp_path: Path) -> None:
    world: World = make(tmp_path)
    predictions = plausibly.read_predictions(world.path("probabilities.csv"))
    votes = plausibly.read_annotations(world.path("votes.csv"))
    predictor = plausibly.calibrate(predictions, votes)
    report = plausibly.write_report(
        predictor,
        tmp_path / "report.html",
        predictions=plausibly.read_predictions(world.path("new.csv")),
        annotations=plausibly.read_annotations(world.path("new_votes.csv")),
        alphas=0.25,
    )
    assert not report.path.with_suffix(".svg").exists()
    page = report.path.read_text("utf-8")
    found = re.findall(
        r'<img class="drawn" alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">', page
    )
    titles = ["What the sets cover", "What sets cover of each example", "How large the sets are"]
    assert len(found) == 3
    for (alt, source), title in zip(found, titles, strict=True):
        assert alt
        text = base64.b64decode(source).decode("utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        said = " ".join(filter(None, (one.text for one in root.iter())))
        assert f"{title}, alpha 0.25" in said.replace("\n", " ")
    assert '"stills"' not in page  # not in the data a second time

"""The paper's figures by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import xarray as xr

from plausibly.atomic import make_folder, replacing
from plausibly.calibration.alphas import AlphaLike, read_alpha
from plausibly.errors import InputError, listed
from plausibly.evaluation.inputs import meant
from plausibly.evaluation.splits import check_count
from plausibly.paper.data import own_data, read
from plausibly.paper.figure import Claim, Drawing, Form, new_page, write_numbers
from plausibly.plots import style

if TYPE_CHECKING:
    from plausibly.paper.figure import Figure


@attrs.frozen
class Entry:
    """A figure by name, with module and name of its `Figure`; ``own`` data can make some."""

    name: str
    paper: str
    shows: str
    home: str

    @property
    def own(self) -> bool:
        return self.name in _OWN

    @property
    def derm(self) -> bool:
        return self.name.startswith("derm-")

    def load(self) -> Figure:
        module, _, name = self.home.partition(":")
        made: Figure = getattr(import_module(f"plausibly.paper.{module}"), name)
        return made


ENTRIES = (
    Entry("toy", "2.1", "the toy, scores and p-values of two points", "toy:TOY"),
    Entry(
        "majority-vote-undercovers", "2.2", "calibrated on votes, true labels missed", "toy:VOTED"
    ),
    Entry("monte-carlo", "3.2", "calibrated on drawn labels, the gap closes", "toy:MONTE_CARLO"),
    Entry("variability", "3.2", "spread over draws, m, calibration size", "toy:VARYING"),
    Entry("ecdf", "3.4", "averaged and corrected p-values, the band", "toy:P_VALUES"),
    Entry("ecdf-coverage", "3.4", "coverage with and without the correction", "toy:COVERAGE"),
    Entry("realised", "4.1 and C", "coverage example by example, with ties", "cases:REALISED"),
    Entry("coverage", "4.1", "coverage and set size by calibration", "cases:COVERAGE"),
    Entry("examples", "4.1 and C", "plausibilities of examples and their sets", "cases:BARS"),
    Entry("multi-label", "4.2", "overlaid digits, covered in part or wholly", "images:MULTI_LABEL"),
    Entry("augmentation", "4.3", "calibrated on augmented images too", "images:AUGMENTATION"),
    Entry("naive-quantile", "C", "the standard quantile on drawn labels", "cases:NAIVE"),
    Entry("p-values", "C", "p-values of votes, drawn and true labels", "cases:UNIFORMITY"),
    Entry("procedures", "3.5", "the table of procedures, measured", "toy:TABLE"),
    Entry("pac", "beyond", "one certified predictor, by bound", "beyond:PAC"),
    Entry("ordinal", "beyond", "ordered labels: sets without holes", "beyond:ORDINAL"),
    Entry("derm-realised", "4.1 and C", "skin: coverage case by case", "cases:REALISED"),
    Entry("derm-coverage", "4.1", "skin: coverage and set size", "cases:COVERAGE"),
    Entry("derm-examples", "4.1 and C", "skin: plausibilities and sets", "cases:BARS"),
    Entry("derm-variability", "C", "skin: spread over m", "toy:VARYING_SKIN"),
    Entry("derm-naive-quantile", "C", "skin: the standard quantile", "cases:NAIVE"),
    Entry("derm-p-values", "C", "skin: p-values by calibration", "cases:UNIFORMITY"),
    Entry("derm-coverage-strict", "C", "skin: coverage at alpha 0.1", "cases:COVERAGE_STRICT"),
    Entry("derm-examples-strict", "C", "skin: sets at alpha 0.1", "cases:BARS_STRICT"),
)
_OWN = {
    "majority-vote-undercovers",
    "monte-carlo",
    "variability",
    "realised",
    "coverage",
    "examples",
    "naive-quantile",
    "p-values",
    "procedures",
}


CLAIMS = "claims.txt"


@attrs.frozen(kw_only=True, eq=False)
class Reproduced:
    entry: Entry
    numbers: xr.Dataset
    claim: Claim
    written: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.entry.name

    def draw(self) -> Drawing:
        return self.entry.load().draw(self.numbers)

    def __repr__(self) -> str:
        return f"Reproduced {self.claim.line(self.name)}"


def reproduce(
    figures: str | Sequence[str] = "all",
    out: Path | str | None = None,
    *,
    splits: int = 100,
    seed: int = 1,
    form: Form = "png",
    alpha: AlphaLike | None = None,
    derm: Path | str | None = None,
    simulate: bool = False,
    predictions: xr.DataArray | None = None,
    plausibilities: xr.DataArray | xr.Dataset | None = None,
    cluster: str | None = None,
    name: str = "yours",
    told: Callable[[Reproduced], object] | None = None,
    progress: Callable[[str, int, int], object] | None = None,
) -> list[Reproduced]:
    """Reproduce figures of the paper: their numbers, pictures, and whether the claims held.

    Parameters
    ----------
    figures : str or sequence of str
        Names, as ``plausibly reproduce --list`` prints them, or ``"all"``.
    out : Path or str, optional
        Folder for a picture (`form` png or svg) and a CSV of the numbers per figure, and for
        ``claims.txt``; without it nothing is written.
    splits, seed : int
        Number of random splits, or of repetitions, and the random seed.
    alpha : number or text, optional
        Miscoverage rate in place of each figure's own.
    derm : Path or str, optional
        Folder of the skin case, see `plausibly.paper.data`; ``"all"`` then has its figures too.
        With `simulate` its predictions are simulated; pictures and tables say so.
    predictions, plausibilities : DataArray, (example, label), optional
        Data in place of each figure's own, called `name`, for the figures that can be made from
        any; examples of one `cluster`, a coordinate, stay on one side of a split.
    told, progress : callable, optional
        Called with each figure when it is finished; with the name of a figure, and the number of
        finished steps and of all.

    Returns
    -------
    list of Reproduced
        In the order of `figures`.

    Raises
    ------
    InputError
        ``figure-unknown``, ``figure-data``, and mistakes in the data.
    MissingExtra
        ``extra-missing`` without scikit-learn, or matplotlib where pictures are written.

    References
    ----------
    Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023.
    """
    data = skin = None
    if predictions is not None and plausibilities is not None:
        data = own_data(predictions, plausibilities, cluster, name)
    elif any(each is not None for each in (predictions, plausibilities, cluster)):
        missing = "predictions" if predictions is None else "plausibilities"
        raise InputError(
            "figure-data",
            f"your data have no {missing}",
            expected="predictions and plausibilities of the same examples",
            found=f"no {missing}",
            hint=f"{missing}=...",
            source=missing,
        )
    own = data is not None
    entries = check_asked(figures, splits=splits, alpha=alpha, derm=derm, own=own)
    if derm is not None and any(entry.derm for entry in entries):
        skin = read(Path(derm), simulate=simulate, seed=seed)
    if out is not None:
        new_page(1, 1)  # a missing library is an error before anything is measured
        make_folder(Path(out))
    made = []
    for entry in entries:
        figure, chosen = entry.load(), skin if entry.derm else data
        ticking = {} if progress is None else {"tick": partial(progress, entry.name)}
        numbers = figure.measure(chosen, alpha, splits=splits, seed=seed, **ticking)
        reproduced = Reproduced(entry=entry, numbers=numbers, claim=figure.claim(numbers))
        if out is not None:
            reproduced = attrs.evolve(reproduced, written=_write(reproduced, Path(out), form))
        if told is not None:
            told(reproduced)
        made.append(reproduced)
    return made


def check_asked(
    figures: str | Sequence[str],
    *,
    splits: int = 100,
    alpha: AlphaLike | None = None,
    derm: Path | str | None = None,
    own: bool = False,
) -> list[Entry]:
    candidates = (entry for entry in ENTRIES if entry.own or not own)
    known = {entry.name: entry for entry in candidates if derm is not None or not entry.derm}
    entries: list[Entry] = []
    for name in [figures] if isinstance(figures, str) else figures:
        if name != "all" and name not in known:
            hint = meant(name, known) or "plausibly reproduce --list"
            if name.startswith("derm-"):
                hint = f"plausibly reproduce {name} --derm FOLDER"
            raise InputError(
                "figure-unknown",
                f'no figure "{name}" can be made of {"your" if own else "these"} data',
                expected=f"all, or one of {listed(known, most=20)}",
                found=name,
                hint=hint,
                source=name,
            )
        entries += known.values() if name == "all" else [known[name]]
    check_count("splits", splits, usual=100)
    if alpha is not None:
        read_alpha(alpha)
    return list(dict.fromkeys(entries))


def _write(reproduced: Reproduced, folder: Path, form: Form) -> tuple[str, str]:
    """Write picture, numbers, and the line of ``claims.txt``, which stand in paper order."""
    picture, table, claims = f"{reproduced.name}.{form}", f"{reproduced.name}.csv", folder / CLAIMS
    with replacing(folder / picture) as part:
        part.write_bytes(style.picture(reproduced.draw(), form))
    write_numbers(reproduced.numbers, folder / table)
    lines = claims.read_text(encoding="utf-8").splitlines() if claims.is_file() else []
    by_name = {line.partition(":")[0]: line for line in lines}
    by_name[reproduced.name] = reproduced.claim.line(reproduced.name)
    known = [by_name.pop(entry.name) for entry in ENTRIES if entry.name in by_name]
    with replacing(claims) as part:
        part.write_text("\n".join([*known, *by_name.values()]) + "\n", encoding="utf-8")
    return picture, table

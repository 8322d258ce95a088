"""A service needs neither xarray nor pandas, for anything that can be saved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plausibly

from .rows import ALL, COMBINERS, DRAWS, SCORES, calibrated, rows

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

SCRIPT = """
import json, sys, warnings
from pathlib import Path

import numpy as np
import plausibly

warnings.simplefilter("ignore")
answers = {}
rows = np.load("rows.npy")
for path in sorted(Path().glob("*.nc")):
    predictor = plausibly.load_predictor(path, array_only=True)
    repr(predictor)
    said = [list(predictor.labels), predictor.fingerprint]
    said.append(predictor.guarantee("0.3").to_json())
    try:
        said.append(predictor.predict_array(rows, "0.3").tolist())
        said.append(predictor.has_p_values and predictor.p_values_array(rows).tolist())
        said.append(predictor.threshold_array("0.3").tolist())
    except plausibly.errors.IncompatibleComponents as refused:
        said.append(refused.name)
    answers[path.stem] = said
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([sorted(loaded & {"xarray", "pandas", "dask", "zarr"}), answers]))
"""


def test_neither_xarray_nor_pandas_is_imported(tmp_path: Path) -> None:
    test = rows(6, prefix="new", seed=4)
    np.save(tmp_path / "rows.npy", test.values)
    made = {f"score {one}": calibrated(score=one) for one in SCORES}
    made |= {f"combiner {one}": calibrated(combiner=one) for one in COMBINERS}
    made |= {name: calibrated(calibrator=table) for name, table in ALL.items()}
    expected = {}
    for name, predictor in made.items():
        predictor.save(tmp_path / f"{name}.nc")
        said: list[object] = [list(predictor.labels), predictor.fingerprint]
        said.append(predictor.guarantee("0.3").to_json())
        if predictor.needs_only_scores:
            said += [predictor.predict(test, "0.3").values.tolist()]
            said += [predictor.has_p_values and predictor.p_values(test).values.tolist()]
            said += [predictor.threshold("0.3").values.tolist()]
        else:
            said.append("array-not-enough")
        expected[name] = json.loads(json.dumps(said))
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded, answers = json.loads(ran.stdout)
    assert loaded == []
    assert answers == expected


@pytest.mark.parametrize("name", ["predict", "p_values", "threshold", "save"])
def test_what_needs_labelled_arrays_is_not_there(name: str, tmp_path: Path) -> None:
    predictor = calibrated(calibrator=DRAWS)
    predictor.save(tmp_path / "p.nc")
    alone = plausibly.load_predictor(tmp_path / "p.nc", array_only=True)
    assert hasattr(predictor, name)
    assert not hasattr(alone, name)
    with pytest.raises(AttributeError, match=f"has no {name}: load_predictor"):
        getattr(alone, name)
    with pytest.raises(AttributeError, match="'ArrayPredictor' object has no attribute 'other'"):
        getattr(alone, "other")  # noqa: B009  # a type checker knows that it is not there


def test_thresholds_are_not_shared_with_the_caller() -> None:
    predictor = calibrated(calibrator=DRAWS)
    row = np.array([0.2, 0.3, 0.5])
    before = predictor.predict_array(row, "0.3").tolist()
    predictor.threshold_array("0.3")[...] = np.inf
    assert predictor.predict_array(row, "0.3").tolist() == before

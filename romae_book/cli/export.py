"""All records as one table: python -m romae_lite export results.csv."""

import csv
import io
import json
from pathlib import Path

from romae_lite.io import atomic_write

from .audit import load_records

# column -> (type, what it is), as a Table Schema (specs.frictionlessdata.io/table-schema) has them
COLUMNS = {
    "experiment": ("string", "subject of the run"),
    "preset": ("string", "named settings that it starts from"),
    "tier": ("string", "paper: the paper's protocol; own: our settings; reduced, ablation, smoke: see the book"),
    "settings": ("object", "settings changed from the preset, as JSON"),
    "seed": ("integer", "of data, weights, order of samples, masks and dropout"),
    "metric": ("string", "name of the metric, on the test set; those of other predictors end in the predictor's name"),
    "value": ("number", "of the metric, in the units that the experiment's chapter gives"),
    "main": ("boolean", "whether it is the run's main metric"),
    "parameters": ("integer", "of the model that was trained"),
    "precision": ("string", "arithmetic of the training"),
    "wall_seconds": ("number", "of training and validation"),
    "commit": ("string", "git commit of the code; + at its end: with changes that were not committed"),
    "numerics": ("integer", "of the arithmetic: between versions, runs of equal settings differ"),
    "record": ("string", "file under results/ with everything else: machine, versions, all settings, history, command"),
}


def export(path: str | Path, root: Path | None = None) -> tuple[Path, Path]:
    """Write all records to a CSV, a row for each metric of each run, and its schema beside it: (table, schema).

    Rows are in the order of the records' file names, and metrics in the order of their record. ValueError where there
    is no record.
    """
    path, text = Path(path), io.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    for record in load_records(root=root):
        row = vars(record) | {
            "settings": json.dumps(dict(record.planned.overrides), sort_keys=True),
            "numerics": record.numerics,
            "record": f"{record.experiment}/{record.path.name}",
        }
        for i, (name, value) in enumerate(record.metrics.items()):
            table.writerow(row | {"metric": name, "value": value, "main": str(i == 0).lower()})
    fields = [{"name": name, "type": kind, "description": what} for name, (kind, what) in COLUMNS.items()]
    schema = path.with_suffix(".schema.json")
    atomic_write(path, text.getvalue().encode())
    atomic_write(schema, (json.dumps({"fields": fields}, indent=1) + "\n").encode())
    return path, schema

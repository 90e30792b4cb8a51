"""The reader's own run: kept as a record that its own command repeats, and placed among recorded ones."""

from dataclasses import replace

from romae_book.experiments.frequencies.experiment import Frequencies
from romae_book.lab import records
from romae_book.lab.runs import Runs
from romae_book.notebook import own_run

TINY = {"encoder": "16x2x1x32", "decoder": "16x2x1x32", "n_train": 32, "n_valid": 8, "n_test": 8, "per_group": 1}


def test_a_kept_run_is_a_sound_record_and_is_replaced(tmp_path):
    exp = Frequencies.quick().replace(**TINY)
    data = exp.data(3)
    model, history = exp.train(data, 3, logs=1)
    metrics = exp.evaluate(model, data.test)
    path = own_run.keep(exp, 3, data, model, history, metrics, tmp_path)
    record = records.load_sound(path)
    assert record.metrics == metrics and record.seed == 3
    assert record.planned.build() == exp, "its command repeats it"
    assert own_run.keep(exp, 3, data, model, history, metrics | {"mse_clean": 1.0}, tmp_path) == path
    assert records.load_sound(path).metrics["mse_clean"] == 1.0

    runs = Runs(replace(record, metrics={"mse_clean": value}) for value in (0.9, 1.0, 1.1))  # interval 0.75 to 1.25
    said = [own_run.beside(exp, {"mse_clean": x}, "mse_clean", runs, "it").data for x in (1.2, 1.3)]
    assert "inside" in said[0] and "outside" in said[1]
    longer = own_run.beside(exp.replace(epochs=7), {"mse_clean": 1.0}, "mse_clean", runs, "it").data
    assert "epochs=7" in longer and "inside" not in longer
    assert "no run" in own_run.beside(exp, {"mse_clean": 1.0}, "mse_clean", Runs(), "it").data

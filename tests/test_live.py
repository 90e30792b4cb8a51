"""The live lab: callbacks as a kernel would call them, and all of it in a real JupyterLab."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import numpy as np
import pytest
import torch
from conftest import ROOT

from romae_book.notebook import live
from romae_lite import ModelConfig, Recipe, RoMAE, Tokens, collate, fit, interpolate, size
from romae_lite.masking import hide
from romae_lite.model import masked_loss
from romae_lite.training import Interrupted


def model(patch: int = 1, **changes) -> RoMAE:
    torch.manual_seed(0)
    return RoMAE(ModelConfig(patch=patch, axes=1, encoder=size("24x2x2x32"), decoder=size("24x2x1x32"), **changes))


def series(*lengths: int, patch: int = 1) -> Tokens:
    rng = np.random.default_rng(0)
    return collate([(rng.normal(size=(n, patch)), np.sort(9 * rng.random((n, 1)), 0)) for n in lengths])


def loss(net, batch, generator):
    return masked_loss(net, batch, hide(batch.real, ratio=0.5, generator=generator))


RECIPE = Recipe(epochs=40, batch=4, lr=1e-3)


def test_without_a_reader_nothing_is_shown_and_training_goes_through(monkeypatch, capsys):
    monkeypatch.delenv("ROMAE_LIVE", raising=False)
    assert not live.attended()
    with live.monitor() as watch:
        history = fit(model(), series(*[9] * 8), loss, RECIPE, seed=0, log=watch.log, stop=watch.stop)
    assert watch.widget is None and [e["step"] for e in watch.history] == [e["step"] for e in history]
    assert live.panel(model(), series(5)) is None and capsys.readouterr().out == ""


@pytest.mark.parametrize(("wish", "expected"), [("1", True), ("0", False)])
def test_the_environment_decides(monkeypatch, wish, expected):
    monkeypatch.setenv("ROMAE_LIVE", wish)
    assert live.attended() is expected


def test_a_wish_to_stop_ends_the_training_and_keeps_the_model():
    net = model()
    watch = live.Monitor(show=True)

    def log(entry):
        watch.log(entry)
        if len(watch.history) == 3:
            watch.end()

    with watch:
        fit(net, series(*[9] * 8), loss, RECIPE, seed=0, logs=20, log=log, stop=watch.stop)
    assert watch.stopped and len(watch.history) == 3 and not net.training
    last = watch.history[-1]
    assert f"step {last['step']} of {last['steps']}" in watch.words.value and f"{last['loss']:.4g}" in watch.words.value
    (line,) = watch.figure(["loss"], last["steps"]).axes[0].lines
    assert line.get_xydata().tolist() == [[e["step"], e["loss"]] for e in watch.history]
    assert 'aria-label="Learning curve: loss' in watch.curve.value and "<svg" in watch.curve.value
    assert watch.hint.value == "stopped"


def test_the_kernels_interrupt_is_the_button_and_other_errors_pass():
    before = signal.getsignal(signal.SIGINT)
    with live.Monitor(show=False) as watch:
        fit(model(), series(*[9] * 8), loss, RECIPE, seed=0, logs=20, stop=watch.stop,
            log=lambda e: os.kill(os.getpid(), signal.SIGINT))
    assert watch.stopped and signal.getsignal(signal.SIGINT) is before
    with pytest.raises(Interrupted), live.Monitor(show=False):  # stopped by somebody else
        fit(model(), series(*[9] * 8), loss, RECIPE, seed=0, stop=lambda: True)
    with pytest.raises(ZeroDivisionError), live.Monitor(show=False):
        1 / 0  # noqa: B018


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("patch", [1, 2])
def test_a_moved_observation_moves_the_curve(patch, spread):
    net, given = model(patch, spread=spread), series(7, 5, patch=patch)
    panel = live.Panel(net, given, sample=1)
    at = torch.linspace(*given.positions[1, [0, 4], 0].tolist(), live.ASKED, dtype=torch.float64)[:, None]
    one = Tokens(values=given.values[1:2, :5], positions=given.positions[1:2, :5])
    assert torch.equal(panel.predicted, interpolate(net, one, at)[0])  # the padding of the sample is gone
    panel.point.value = 3
    assert panel.time.value == pytest.approx(float(one.positions[0, 2, 0]))
    panel.values[-1].value = 0.5 * panel.values[-1].max
    panel.time.value = float(one.positions[0, 1, 0])
    moved = Tokens(values=one.values.clone(), positions=one.positions.clone())
    moved.values[0, 2, -1], moved.positions[0, 2] = panel.values[-1].value, one.positions[0, 1]
    assert torch.equal(panel.predicted, interpolate(net, moved, at)[0])
    panel.shown.value = False
    rest = [0, 1, 3, 4]
    without = Tokens(values=moved.values[:, rest], positions=moved.positions[:, rest])
    assert torch.equal(panel.predicted, interpolate(net, without, at)[0])
    assert "4 of 5 observations" in panel.picture.value and "<svg" in panel.picture.value
    ax = panel.figure().axes[0]
    curves, seen, hidden, chosen = (ax.lines[i::4] for i in range(4))
    assert len(curves) == patch and len(ax.collections) == patch * spread  # bands
    for c in range(patch):
        assert np.array_equal(curves[c].get_ydata(), panel.predicted[:, c])
        assert np.array_equal(seen[c].get_xydata(), torch.stack((moved.positions[0, rest, 0],
                                                                 moved.values[0, rest, c].double()), 1))
        assert hidden[c].get_xydata().tolist() == chosen[c].get_xydata().tolist() == [
            [panel.time.value, pytest.approx(panel.values[c].value if c == patch - 1 else float(moved.values[0, 2, c]))]
        ]
    panel.back.click()
    assert torch.equal(panel.predicted, interpolate(net, one, at)[0])
    panel.sample.value = 0
    assert panel.point.max == 7 and torch.equal(panel.tokens.values, given.values[:1])


def test_a_spiral_is_a_curve_in_the_plane():
    panel = live.Panel(model(2), series(7, patch=2), plane=True)
    ax = panel.figure().axes[0]
    assert np.array_equal(ax.lines[0].get_xydata(), panel.predicted) and ax.get_aspect() == 1
    assert np.array_equal(ax.lines[1].get_xydata(), panel.tokens.values[0])


def test_the_last_observation_stays():
    panel = live.Panel(model(), series(2))
    for i in (1, 2):
        panel.point.value = i
        panel.shown.value = False
    assert panel.kept.tolist() == [False, True] and panel.shown.value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: live.Panel(torch.nn.Linear(2, 2), series(4)), "model is Linear.* must be of type RoMAE"),
        (lambda: live.Panel(model(), series(4), 1), "sample is 1; tokens hold 1"),
        (lambda: live.Panel(model(5), series(4, patch=5)), "a token holds 5 numbers"),
        (lambda: live.Panel(model(), series(4), plane=True), "a token holds 1 numbers; a panel draws two in the plane"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# --- JupyterLab ----------------------------------------------------------------------------------------------------

CELLS = [
    "import sys; sys.path[:0] = [{tests!r}, {root!r}]\nfrom test_live import *\nnet = model()",
    "with live.monitor() as watch:\n"
    "    fit(net, series(*[9] * 64), loss, Recipe(epochs=100000, batch=4, lr=1e-3), seed=0, logs=20000,\n"
    "        log=watch.log, stop=watch.stop)\nprint('ended after', watch.history[-1]['step'], 'steps')",
    "shown = live.panel(net, series(7, 5))",
]


def notebook(path) -> None:
    cells = [nbformat.v4.new_code_cell(c.format(tests=str(ROOT / "tests"), root=str(ROOT))) for c in CELLS]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=spec), path)


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab in an empty folder, which is ended afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = dict(
        os.environ, HOME=str(tmp_path / "home"), JUPYTER_CONFIG_DIR=str(tmp_path / "config"), OMP_NUM_THREADS="1"
    )
    environment.pop("ROMAE_LIVE", None)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1",
               "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={tmp_path}",
               "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(tmp_path / "lab.log", "w") as out:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=2)
                break
            except OSError:
                assert server.poll() is None, (tmp_path / "lab.log").read_text()[-2000:]
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.weekly
@pytest.mark.slow
def test_in_jupyterlab_training_stops_and_the_curve_follows(browser, lab, tmp_path):
    notebook(tmp_path / "live.ipynb")
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    try:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{lab}/lab/tree/live.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # before, nothing would be run
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        page.get_by_text("Run", exact=True).first.click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.wait_for_function("document.body.innerText.match(/step [1-9][0-9,]* of 1,600,000/)")  # it is at work
        assert page.locator("[aria-label^='Learning curve'] svg").count() == 1
        page.locator('[data-command="notebook:interrupt-kernel"], [title^="Interrupt the kernel"]').first.click()
        ended = r"document.body.innerText.match(/ended after \d+ steps/)"
        page.wait_for_function(ended)  # by the button: it would go on for hours
        curve = page.locator("[aria-label^='Curve of the model'] svg")
        curve.wait_for()
        before = curve.inner_html()
        handle = page.locator(".widget-slider [role=slider], .noUi-handle").nth(
            3
        )  # sample, observation, position, value
        handle.focus()
        for _ in range(20):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "b => document.querySelector(\"[aria-label^='Curve of the model'] svg\").innerHTML != b", arg=before
        )
        page.screenshot(path=tmp_path / "lab.png")
    finally:
        context.close()

"""The book's matplotlib figures: what `render` makes of them, and that a browser shows it."""

import base64
import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from romae_book import figures
from romae_book.palette import PALETTE


def example():
    with figures.style():
        fig, ax = plt.subplots()
        x = np.linspace(1, 10, 50)
        for i in range(len(PALETTE)):
            figures.band(ax, x, i + 1 / x, i + 0.9 / x, i + 1.1 / x, label=f"line {i}")
        ax.set(title="A title", xlabel="$x^2$", ylabel="error", yscale="log")
        ax.legend()
    return fig


@pytest.fixture(scope="module")
def picture():
    fig = example()
    yield figures.render(fig, alt='Six "falling" lines & bands.')
    plt.close(fig)


def test_svg_is_one_well_formed_element_with_ids_of_its_own(picture):
    root = ElementTree.fromstring(picture.svg)
    assert root.tag.endswith("svg") and root.get("aria-hidden") == "true"
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', picture.svg))
    assert used and {a or b for a, b in used} <= set(ids)
    with figures.style():
        other, ax = plt.subplots()
        ax.plot([1, 2], [1, 3])
        theirs = re.findall(r'\bid="([^"]*)"', figures.render(other, alt="another").svg)
        plt.close(other)
    assert not set(ids) & set(theirs)


def test_svg_has_no_fixed_colours_and_no_page_wide_style(picture):
    assert "<style" not in picture.svg and "currentColor" in picture.svg
    fixed = re.sub(r"var\(--romae-\w+,#\w{6}\)", "", picture.svg)
    assert not re.search(r"#[0-9a-f]{6}\b|\b(black|white)\b", fixed, flags=re.IGNORECASE)
    assert all(f"var(--romae-{name}," in picture.svg for name in PALETTE)


def test_what_is_written_keeps_its_digits():
    """Coordinates are rounded to hundredths, labels are not: 0.015 on an axis is not 0.01."""
    fig, ax = plt.subplots()
    ax.set_xticks([0.015, 0.985], ["0.015", "0.985"])
    ax.set_title("mean 0.0021")
    svg = figures.render(fig, alt="two ticks").svg
    plt.close(fig)
    assert {"0.015", "0.985", "mean 0.0021"} <= set(re.findall(r">\s*([^<>]*?)\s*</text>", svg))
    assert not re.findall(r'[="(, ]\d+\.\d{3,}(?=[^<>]*>)', svg)


def test_colours_and_dashes_differ(picture):
    with figures.style():
        fig, ax = plt.subplots()
        lines = [ax.plot([0, 1], [i, i])[0] for i in range(len(PALETTE))]
    assert len({line.get_color() for line in lines}) == len({str(line._dash_pattern) for line in lines}) == len(PALETTE)
    plt.close(fig)


def test_same_figure_same_bytes(picture):
    again = example()
    assert figures.render(again, alt=picture.alt) == picture
    plt.close(again)


def test_bundle(picture):
    bundle = picture._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert sum(map(len, bundle.values())) < 150_000
    image = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).convert("RGB")
    assert image.getpixel((0, 0)) == (255, 255, 255) and image.width > 500
    darkest = min(sum(colour) for _, colour in image.getcolors(1 << 20))
    assert darkest < 60  # the text, in ink
    assert 'role="img" aria-label="Six &quot;falling&quot; lines &amp; bands."' in bundle["text/html"]


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_alt_is_required(alt):
    with pytest.raises(ValueError, match="alt"):
        figures.render(plt.figure(), alt=alt)
    plt.close("all")


def test_drawing_needs_no_subject():
    """Whichever module is the first to bring one along is named."""
    code = """
import importlib, sys
for module in ("palette", "explorables.svg", "explorables.gallery", "figures"):
    importlib.import_module(f"romae_book.{module}")
    loaded = [name for name in sys.modules if name.startswith("romae_book.experiments.")]
    assert not [name for name in loaded if name.endswith(".experiment")], module
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_style_does_not_leak():
    before = dict(mpl.rcParams)
    with figures.style():
        assert mpl.rcParams["text.color"] == figures.INK
    assert dict(mpl.rcParams) == before


def test_show_displays_once_and_closes(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    fig = plt.figure()
    figures.show(fig, alt="nothing yet")
    assert [p.alt for p in shown] == ["nothing yet"] and not plt.fignum_exists(fig.number)


def test_learning_curve_draws_what_the_history_says():
    history = [
        {"step": s, "epoch": s / 10, "loss": 1 / s} | ({"rmse": 2 / s} if s % 20 == 0 else {})
        for s in range(10, 60, 10)
    ]
    ax = figures.learning_curve(history, keys=("loss", "rmse"))
    loss, rmse = ax.get_lines()
    np.testing.assert_array_equal(loss.get_xydata(), [(s, 1 / s) for s in range(10, 60, 10)])
    np.testing.assert_array_equal(rmse.get_xydata(), [(20, 0.1), (40, 0.05)])
    with pytest.raises(KeyError, match="accuracy"):
        figures.learning_curve(history, keys=("accuracy",))
    plt.close("all")


def test_band_spans_the_interval():
    fig, ax = plt.subplots()
    figures.band(ax, [0, 1], [1, 1], [0, -1], [2, 5])
    (fill,) = ax.collections
    np.testing.assert_array_equal(fill.get_paths()[0].get_extents().intervaly, [-1, 5])
    plt.close(fig)


@pytest.mark.parametrize(("scheme", "text"), [("light", "rgb(34, 40, 50)"), ("dark", "rgb(206, 214, 221)")])
def test_in_the_page(browser, picture, tmp_path, scheme, text):
    file = tmp_path / "page.html"
    file.write_text(f'<html data-theme="{scheme}"><meta charset="utf-8"><body style="color:{text}">{picture.html()}')
    with browser.new_context(viewport={"width": 390, "height": 600}) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.get_by_role("img", name="falling").count() == 1
        assert not page.locator("figure > img").is_visible()
        fills = page.eval_on_selector_all("svg text", "nodes => nodes.map(n => getComputedStyle(n).fill)")
        assert set(fills) == {text}
        strokes = page.eval_on_selector_all("svg path", "nodes => nodes.map(n => getComputedStyle(n).stroke)")
        for pair in PALETTE.values():
            colour = pair[scheme == "dark"]
            assert f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})" in strokes


def test_sanitised_figure_still_shows_the_png(browser, picture, tmp_path):
    """JupyterLab strips <style> and <svg> from a notebook that is not trusted, and keeps <img>."""
    file = tmp_path / "page.html"
    file.write_text(re.sub(r"(?s)<(style|svg).*?</\1>", "", picture.html()))
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(file.as_uri())
        assert page.locator("figure > img").is_visible()
        assert page.locator("figure > img").evaluate("image => image.naturalWidth") > 500

"""The interactive figures: their data in Python, and their behaviour in a real browser."""

import importlib
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from figures import GROUNDS, keep, state

from romae_book.experiments.waves.experiment import SHORT, Waves
from romae_book.explorables import stills
from romae_book.explorables.explorable import STILLS, Explorable, script_of
from romae_book.explorables.gallery import figures, gallery
from romae_book.explorables.rotary import two_tokens
from romae_book.lab import records
from romae_book.palette import PALETTE

# --- Python -----------------------------------------------------------------------------------------------------------


def test_html_is_self_contained_and_repeatable():
    figure = two_tokens.explorable()
    html = figure.html()
    assert html == two_tokens.explorable().html()
    assert not re.search(r"""\bid=|\bsrc="(?!data:)|\bhref=|@import|url\(|\bfetch\(|import\(""", html)
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody fetches
    assert figure._repr_mimebundle_() == {"text/html": html, "text/plain": f"<Explorable two_tokens: {figure.title}>"}


def test_data_cannot_end_the_script_nor_the_figure():
    evil = {"evil": "</script><b>"}
    script, title = script_of("two_tokens"), 'a <b> & "c"'
    figure = Explorable(name="evil", script=script, data=evil, title=title, caption="<i>")
    html = figure.html()
    assert html.count("</script>") == 1 and "<b>" not in html and "<i>" not in html


@pytest.mark.parametrize("data", [{"x": float("nan")}, {"x": float("inf")}, {"x": np.zeros(2)}])
def test_data_that_json_cannot_say_is_refused(data):
    with pytest.raises(ValueError, match="JSON without NaN"):
        Explorable(name="two_tokens", script=script_of("two_tokens"), data=data, title="t", caption="c")


@pytest.mark.parametrize("script", [None, ROOT / "sundial.js"])
def test_data_need_a_drawing(script):
    with pytest.raises(ValueError, match="script of 'sundial' is"):
        Explorable(name="sundial", script=script, data={}, title="t", caption="c")


def luminance(colour: str) -> float:
    """WCAG 2 relative luminance of #rrggbb."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", PALETTE)
def test_palette_can_carry_text(name):
    for colour, ground in zip(PALETTE[name], ("#ffffff", "#222832"), strict=True):
        high, low = sorted((luminance(colour), luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_gallery_names_what_there_is():
    assert set(EXAMPLES) <= set(figures()), "EXAMPLES below makes up data for figures that are there"
    with pytest.raises(KeyError, match="two_tokens"):
        gallery("sundial")


def of(chapter: str, name: str, *values):
    """What a chapter's test file has under a name, imported late: it takes its fixtures from this one."""
    return lambda: getattr(importlib.import_module(f"test_explorables_{chapter}"), name)(*values)


# Figures of recorded runs: experiment, preset, the arrays that are drawn, metrics, settings. No model was asked.
RECORDED = {
    "hero": ("spirals", "page", of("hero", "kept"), {"rmse_clean": 0.5}, {"epochs": 2}),
    "count_or_time": ("waves", "page", of("waves", "kept"), {"miss": 0.5}, {"epochs": 3}),
    "start_later": ("waves", "page", of("waves", "kept"), {"miss": 0.5, "miss_later20": 0.5}, SHORT),
    "periods": ("periods", "page", of("periods", "kept"), {"mse": 0.1}),
    "fold": ("folding", "best", of("lightcurves", "kept"), {"rmse": 0.1}, {"axis": "phase", "hidden": "visits"}),
    "walk": ("waves", "page", of("waves", "kept"), {"miss": 0.5}, {"epochs": 3}),
    "patient": ("physionet", "small", of("physionet", "made_up"), {"mse": 0.5}),
    "pendulum": ("pendulum", "paper", of("pendulum", "made_up"), {"mse": 0.5}),
    "uea": ("uea", "best", of("uea", "letters", False), {"accuracy": 0.5}, {"dataset": "CharacterTrajectories"}),
    "synthetic": ("synthetic", "mini", of("synthetic", "left"), {"mse_clean": 0.5, "mse_clean_gp": 0.4}),
    "moving_tokens": ("position", "best", of("cls", "made_up", 1.0), {"mse": 0.5}),
    "spectrum": ("frequencies", "small", of("frequencies", "arrays", 1.0), {"mse": 0.5}),
    "position_scale": ("frequencies", "small", of("frequencies", "arrays", 1.0), of("frequencies", "metrics", 1, 0)),
}
BESIDE = {  # of figures of several runs: settings of the others, which are whole, and what they leave
    "count_or_time": [({"epochs": 3, "told": "numbers"}, of("waves", "kept"))],
    "periods": [({"arm": arm}, of("periods", "kept", arm)) for arm in ("spectral", "tuned")],
    "start_later": [(SHORT | how, of("waves", "kept", Waves.page().replace(**SHORT, **how)))
                    for how in ({"encoding": "absolute"}, {"encoding": "none", "bias": True})],
}
NOT_DRAWN = {  # kept for other figures
    "moving_tokens": {"grid", "bias", "absolute"},
}


def recorded(root, name: str, arrays: dict | None = None, **settings) -> Path:
    experiment, preset, make, metrics, *more = RECORDED[name]
    metrics = metrics() if callable(metrics) else metrics
    for others, left in BESIDE.get(name, ()):
        keep(root, experiment, preset, left(), metrics, **others)
    return keep(root, experiment, preset, make() if arrays is None else arrays, metrics, **dict(*more), **settings)


def test_all_figures_of_recorded_runs_are_known(tmp_path):
    assert {name for name in figures() if "root" in inspect.signature(figures()[name]).parameters} == set(RECORDED)
    assert all(gallery(name, root=tmp_path).data is None for name in RECORDED)


WANTED = {  # presets, the one that is wanted most last
    "patient": ("small", "paper", "best"), "uea": ("paper", "best"),
}


@pytest.mark.parametrize("name", WANTED)
def test_the_wanted_preset_is_drawn_and_a_damaged_file_passed_over(name, tmp_path):
    nothing = gallery(name, root=tmp_path)
    assert "romae_lite run" in nothing.html() and "<script" not in nothing.html()
    experiment, _, make, metrics, *more = RECORDED[name]
    for preset in WANTED[name]:
        path = keep(tmp_path, experiment, preset, make(), metrics, **dict(*more))
        assert f"--preset {preset} " in gallery(name, root=tmp_path).caption
    path.write_bytes(b"PK no archive")
    caption = gallery(name, root=tmp_path).caption
    assert f"{path.name} cannot be used" in caption and f"--preset {WANTED[name][-2]} " in caption
    for record in tmp_path.rglob("*.json"):
        record.write_text("{")
    nothing = gallery(name, root=tmp_path)
    assert nothing.data is None and f"{record.name} is not JSON" in nothing.caption


@pytest.mark.parametrize("name", RECORDED)
def test_a_run_in_another_precision_is_as_good(name, tmp_path):
    recorded(tmp_path, name, precision="bf16")
    assert gallery(name, root=tmp_path).data is not None


def huge(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind == "f":
        return np.full_like(array, np.finfo(array.dtype).max) if array.dtype != np.float16 else None
    return np.full_like(array, np.iinfo(array.dtype).max) if array.dtype.kind == "i" else None


# What can be wrong with one array of a file that can be read; None where it would not be wrong.
MUTATIONS = {
    "missing": None, "no axes": lambda a: a.ravel()[0], "an axis more": lambda a: a[None], "empty": lambda a: a[:0],
    "shorter": lambda a: a[:-1], "NaN": lambda a: a * np.nan if a.dtype.kind == "f" else None, "huge": huge,
    "negative": lambda a: -2 - a if a.dtype.kind == "i" else None,
}


@pytest.mark.parametrize("name", RECORDED)
def test_whatever_is_wrong_with_arrays_ends_in_a_still_picture_that_names_the_file(name, tmp_path):
    path = recorded(tmp_path, name)
    good = records.load_arrays(path)
    assert gallery(name, root=tmp_path).data is not None
    drawn = sorted(good.keys() - NOT_DRAWN.get(name, set()), key=lambda array: array.startswith("weights."))
    for array in drawn[:15][: 4 + sum(not array.startswith("weights.") for array in drawn)]:  # a few weights will do
        for what, mutate in MUTATIONS.items():
            bad = mutate(good[array]) if mutate else None
            if mutate and bad is None:
                continue
            np.savez(path, **{k: v for k, v in good.items() if k != array} | ({array: bad} if mutate else {}))
            figure = gallery(name, root=tmp_path)
            assert figure.data is None and path.name in figure.caption, (array, what, figure.caption)
            if what in ("missing", "NaN"):
                assert array.removeprefix("weights.") in figure.caption


# --- in the browser ---------------------------------------------------------------------------------------------------

# Figures that say nothing without data have made-up data here; all others are taken from the gallery.
EXAMPLES = {
    "walk": of("autoencoder", "figure"), "patient": of("physionet", "figure"),
    "pendulum": of("pendulum", "figure"), "uea": of("uea", "figure"), "masked_picture": of("tiny_imagenet", "figure"),
    "sound": of("esc50", "figure"), "synthetic": of("synthetic", "figure"), "moving_tokens": of("cls", "figure"),
    "hero": of("hero", "figure"), "count_or_time": of("waves", "figure"), "start_later": of("waves", "late"),
    **{name: of("frequencies", "figure", name) for name in ("spectrum", "position_scale")},
    "periods": of("periods", "figure"), "cost": of("speed", "figure"), "filler": of("filler", "made"),
}
MAKERS = {name: EXAMPLES.get(name, figures()[name]) for name in figures()}


def look(page, scheme: str, **attributes) -> None:
    """Give the page another scheme, as its host would, and wait until the figures have followed."""
    ground, text = GROUNDS[scheme]
    page.evaluate(
        """([ground, text, attributes]) => {
          const root = document.documentElement;
          for (const name of ["data-theme", "theme"]) root.removeAttribute(name);
          for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
          Object.assign(root.style, {background: ground, color: text});
        }""",
        [ground, text, attributes],
    )
    page.wait_for_function("s => document.querySelector('.romae-explorable').dataset.scheme === s", arg=scheme)


def check_readable(page) -> None:
    """Every text has the contrast that WCAG 2 asks for."""
    measured = page.evaluate(CONTRAST)
    assert len(measured) > 10
    assert min(measured.values()) >= 4.5, min(measured.items(), key=lambda item: item[1])


def check_palette(page, scheme: str) -> None:
    blue = page.locator(".romae-explorable").first.evaluate("e => getComputedStyle(e).getPropertyValue('--romae-blue')")
    assert blue == PALETTE["blue"][scheme == "dark"]


def check_fits(page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_figure_on_a_phone_in_every_scheme_and_twice_on_a_page(visit, make):
    """One visit: on a phone whose host does not say that it is dark, then as Colab and the site say it, then on a desk,
    by keyboard."""
    page = visit(make().html() * 2, "dark", "lang=en", width=320, reduced_motion="reduce")
    check_palette(page, "dark")
    check_readable(page)
    for width in (320, 390, 900):
        check_fits(page, width)
    for said in ("theme", "data-theme"):
        for scheme in ("light", "dark"):
            look(page, scheme, **{said: scheme})
            check_palette(page, scheme)
            if said == "data-theme":  # the colours are those of the other, if the palette is
                check_readable(page)
    figures = page.locator('.romae-explorable[data-ready="1"]')
    assert figures.count() == 2
    assert state(page, 0) == state(page, 1)
    controls, seen = page.locator(".romae-live :is(input, select, button, [role=slider])"), set()
    for _ in range(controls.count()):
        page.keyboard.press("Tab")
        name, outline, place = page.evaluate(FOCUSED)
        assert name.strip() and outline != "none"
        seen.add(place)
    assert len(seen) == controls.count()
    first = figures.nth(1).locator(":is(input[type=range], [role=slider])").first
    # where there is no way to the right, to the left
    at_its_end = first.evaluate("e => +(e.value ?? e.ariaValueNow) >= +(e.max ?? e.ariaValueMax)")
    first.press("ArrowLeft" if at_its_end else "ArrowRight")
    told = '[...document.querySelectorAll(".romae-explorable")].map(figure => figure.dataset.state)'
    # the next frame draws it, and a busy machine is late with that
    page.wait_for_function(f"() => new Set({told}).size === 2")
    assert state(page, 0) != state(page, 1)
    page.wait_for_function("document.querySelectorAll('output.romae-sr')[1].textContent.length > 10")  # spoken


def test_still_pictures_without_scripts(visit):
    page = visit("".join(make().html() for make in MAKERS.values()), java_script_enabled=False)
    boxes = [still.bounding_box() for still in page.locator(".romae-still").all()]  # None: out of sight
    assert not [name for name, box in zip(MAKERS, boxes, strict=True) if not box or box["height"] <= 80]
    assert page.locator(".romae-live:visible").count() == 0


def test_still_picture_returns_where_the_drawing_fails(visit):
    head = "function explorable(root, data, kit) {"
    page = visit(two_tokens.explorable().html().replace(head, head + ' throw Error("no");'), expect_errors=True)
    assert page.locator(".romae-explorable").get_attribute("data-ready") == "failed"
    assert page.locator(".romae-still").is_visible()


def test_every_figure_has_a_still_of_its_present_drawing():
    made = json.loads(stills.SOURCES.read_text())
    old = {name for name in figures() if made.get(name) != stills.source(name)}
    assert not old, f"CHROMIUM=... python -m romae_book.explorables.stills {' '.join(sorted(old))}"
    assert {path.stem for path in STILLS.glob("*.webp")} == set(figures()) == set(made)
    assert max(path.stat().st_size for path in STILLS.glob("*.webp")) < 50_000


def test_no_two_figures_share_a_prefix_of_css_classes():
    """The rules of a figure hold for the whole page."""
    owners = {}
    for sheet in sorted(STILLS.parent.glob("[!k]*/*.css")):
        for prefix in set(re.findall(r"\.romae-explorable \.(\w+)-", sheet.read_text())) - {"romae"}:
            owners.setdefault(prefix, []).append(sheet)
    assert len(owners) >= len(figures())
    assert not {prefix: names for prefix, names in owners.items() if len(names) > 1}


def test_drawn_later_inside_a_closed_dropdown(visit):
    page = visit(f"<details><summary>more</summary>{two_tokens.explorable().html()}</details>")
    assert state(page)["pairs"] == 4
    page.locator("summary").click()
    page.wait_for_function("() => document.querySelector('.tt-dials').getBoundingClientRect().height > 40")


FOCUSED = """() => {
  const e = document.activeElement, name = e.getAttribute("aria-label") || (e.labels && e.labels[0] || e).textContent;
  return [name, getComputedStyle(e).outlineStyle, [...document.querySelectorAll("*")].indexOf(e)];
}"""

# Contrast (WCAG 2) of every visible piece of text in the figure against the page's ground, opacities included.
CONTRAST = """() => {
  const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const linear = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] / 255 + under[i] * (1 - top[3] / 255));
  const figure = document.querySelector(".romae-explorable"), found = {};
  const ground = rgba(getComputedStyle(document.documentElement).backgroundColor);
  const card = over(rgba(getComputedStyle(figure).backgroundColor), ground);
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || element.closest("style, option, .romae-sr") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element), colour = rgba(element instanceof SVGElement ? style.fill : style.color);
    for (let e = element; e !== figure; e = e.parentElement) colour[3] *= +getComputedStyle(e).opacity;
    const [high, low] = [light(over(colour, card)), light(card)].sort((a, b) => b - a);
    found[text] = Math.min(found[text] ?? 99, (high + 0.05) / (low + 0.05));
  }
  return found;
}"""

"""The interactive figures: their data in Python, and their behaviour in a real browser."""

import importlib
import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ROOT, made_up_record
from oracles import rotary_clock as oracle_rotary_clock
from oracles import spirals as oracle_spirals

from romae_book.explorables import stills
from romae_book.explorables.explorable import STILLS, Explorable, script_of
from romae_book.explorables.gallery import figures, gallery
from romae_book.explorables.rotary import rotary_clock
from romae_book.explorables.spirals import figure as spirals
from romae_book.lab import records
from romae_book.palette import PALETTE
from romae_lite import rope

COUNTS = [3, 5, 8, 12, 20, 30, 45, 60, 74]


def arrays(S: int = 3, N: int = 75, seed: int = 0) -> dict[str, np.ndarray]:
    """Made-up spirals with made-up predictions, laid out as the recorded arrays are; no model was asked."""
    rng = np.random.default_rng(seed)
    theta, K = np.linspace(0, 9.36, N), len(COUNTS)
    radius = 0.3 * theta
    clean = np.stack([np.stack((radius * np.cos(theta) + 5, (-1) ** s * radius * np.sin(theta)), -1) for s in range(S)])
    wave = 0.3 * rng.normal(size=(2, S, K, 1, 2)) * np.sin(3 * theta)[:, None]  # (2, S, K, N, 2)
    romae, bayes = clean[:, None] + wave / np.sqrt(COUNTS)[:, None, None]
    return dict(
        theta=theta, chirality=np.arange(S) % 2, clean=clean, noisy=clean + rng.normal(0, 0.1, clean.shape),
        order=np.stack([rng.permutation(N) for _ in range(S)]).astype(np.int16), counts=np.array(COUNTS, np.int16),
        romae=romae.astype(np.float32), bayes=bayes.astype(np.float32),
    )


# --- Python -----------------------------------------------------------------------------------------------------------


def test_html_is_self_contained_and_repeatable():
    figure = spirals.explorable(arrays())
    html = figure.html()
    assert html == spirals.explorable(arrays()).html()
    assert not re.search(r"""\bid=|\bsrc="(?!data:)|\bhref=|@import|url\(|\bfetch\(|import\(""", html)
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody fetches
    assert figure._repr_mimebundle_() == {
        "text/html": html,
        "text/plain": f"<Explorable spirals: {figure.title}>",
    }


def test_size_of_the_full_spirals_figure():
    full = arrays(S=6)
    wide = {name: np.repeat(full[name], 2, axis=1)[:, :12] for name in ("romae", "bayes")}
    html = spirals.explorable(full | wide | {"counts": np.arange(5, 65, 5)}).html()
    assert len(html.encode()) < 250_000


def test_data_cannot_end_the_script_nor_the_figure():
    evil = {"position": 1, "evil": "</script><b>"}
    script, title = script_of("rotary_clock"), 'a <b> & "c"'
    figure = Explorable(name="evil", script=script, data=evil, title=title, caption="<i>")
    html = figure.html()
    assert html.count("</script>") == 1 and "<b>" not in html and "<i>" not in html


@pytest.mark.parametrize("data", [{"x": float("nan")}, {"x": float("inf")}, {"x": np.zeros(2)}])
def test_data_that_json_cannot_say_is_refused(data):
    with pytest.raises(ValueError, match="JSON without NaN"):
        Explorable(name="rotary_clock", script=script_of("rotary_clock"), data=data, title="t", caption="c")


@pytest.mark.parametrize("script", [None, ROOT / "sundial.js"])
def test_data_need_a_drawing(script):
    with pytest.raises(ValueError, match="script of 'sundial' is"):
        Explorable(name="sundial", script=script, data={}, title="t", caption="c")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("counts", np.array(COUNTS[::-1]), "counts is"),
        ("counts", np.array([0, *COUNTS[1:]]), "counts is"),
        ("order", np.zeros((3, 75), int), "order must"),
    ],
)
def test_impossible_orders_and_counts_are_named(name, value, message):
    with pytest.raises(ValueError, match=message):
        spirals.payload(arrays() | {name: value})


@pytest.mark.parametrize("model", ["romae", "bayes"])
def test_rmse_is_that_of_the_hidden_points(model):
    given = arrays()
    data = spirals.payload(given)
    for s in range(3):
        for k, count in enumerate(COUNTS):
            total = 0.0
            for i in given["order"][s, count:]:
                total += sum((given[model][s, k, i, c] - given["clean"][s, i, c]) ** 2 for c in range(2))
            expected = math.sqrt(total / (2 * (75 - count)))
            # both curves are rounded to 1e-4 on the way: each difference moves by at most 1e-4, and so does its RMS
            assert oracle_spirals.spiral_rmse(data, s, k, model) == pytest.approx(expected, abs=1e-4)


def test_rmse_where_nothing_is_hidden():
    data = spirals.payload(arrays() | {"counts": np.array([*COUNTS[:-1], 75])})
    assert math.isnan(oracle_spirals.spiral_rmse(data, 0, len(COUNTS) - 1, "romae"))


def test_spirals_are_named_by_their_kind():
    turns = [spiral["turn"] for spiral in spirals.payload(arrays())["spirals"]]
    assert turns == ["outward", "inward", "outward"]


@pytest.mark.parametrize("dim", [2, 8, 16, 60])
@pytest.mark.parametrize("p", [0.0, 0.35, 0.75, 1.0])
@pytest.mark.parametrize("base", [10.0, 10_000.0])
def test_clock_turns_like_the_model(dim, p, base):
    freqs = rope.frequencies(dim, p, base)
    np.testing.assert_allclose(rotary_clock.frequencies(dim, p, base), freqs.numpy(), rtol=1e-13)
    phase = rope.angles(torch.tensor([[[12.34]]], dtype=torch.float64), freqs)[:, :, None]  # (1, 1, 1, dim / 2)
    ones = torch.ones(1, 1, 1, dim)
    score = (rope.rotate(ones, phase.cos(), phase.sin()) * ones).sum() / dim
    # the rotation is in float32
    assert oracle_rotary_clock.agreement(12.34, dim, p, base) == pytest.approx(score.item(), abs=1e-6)


@pytest.mark.parametrize("bad", [dict(dim=7), dict(dim=62), dict(position=-1.0), dict(p=1.5), dict(base=1.0)])
def test_clock_refuses(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        rotary_clock.explorable(**bad)


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
    with pytest.raises(KeyError, match="rotary_clock"):
        gallery("sundial")


def keep(root, experiment: str, preset: str, arrays: dict, metrics: dict, seed: int = 0, **settings) -> Path:
    """A record that no run left, with arrays beside it; the path of the arrays."""
    record = made_up_record(experiment, preset, seed, settings, root, metrics=metrics)
    return records.save_arrays(root / experiment / f"{record.planned.name}.npz", **arrays)


def test_damaged_arrays_are_named_and_passed_over(tmp_path):
    keep(tmp_path, "spirals", "paper", arrays(), {"rmse_clean": 0.5})
    keep(tmp_path, "spirals", "best", arrays(), {"rmse_clean": 0.5}).write_bytes(b"PK no archive")
    caption = gallery("spirals", root=tmp_path).caption
    assert "--preset paper --seeds 0." in caption and "best-s0.npz cannot be used" in caption
    (tmp_path / "spirals" / "paper-s0.json").write_text("{")
    assert gallery("spirals", root=tmp_path).data is None
    assert "paper-s0.json is not JSON" in gallery("spirals", root=tmp_path).caption


def of(chapter: str, name: str, *values):
    """What a chapter's test file has under a name, imported late: it takes its fixtures from this one."""
    return lambda: getattr(importlib.import_module(f"test_explorables_{chapter}"), name)(*values)


# Figures of recorded runs: experiment, preset, the arrays that are drawn, metrics, settings. No model was asked.
RECORDED = {
    "hero": ("spirals", "page", of("hero", "kept"), {"rmse_clean": 0.5}, {"epochs": 2}),
    "count_or_time": ("waves", "page", of("waves", "kept"), {"miss": 0.5}),
    "spirals": ("spirals", "paper", arrays, {"rmse_clean": 0.5}),
    "patient": ("physionet", "small", of("physionet", "made_up"), {"mse": 0.5}),
    "pendulum": ("pendulum", "paper", of("pendulum", "made_up"), {"mse": 0.5}),
    "uea": ("uea", "best", of("uea", "letters", False), {"accuracy": 0.5}, {"dataset": "CharacterTrajectories"}),
    "synthetic": ("synthetic", "mini", of("synthetic", "left"), {"mse_clean": 0.5, "mse_clean_gp": 0.4}),
    "moving_tokens": ("position", "best", of("cls", "made_up", 1.0), {"mse": 0.5}),
    "spectrum": ("frequencies", "small", of("frequencies", "arrays", 1.0), {"mse": 0.5}),
    "position_scale": ("frequencies", "small", of("frequencies", "arrays", 1.0), of("frequencies", "metrics", 1, 0)),
}
BESIDE = {"count_or_time": {"told": "numbers"}}  # of figures of two runs: settings of the other, which is whole
NOT_DRAWN = {  # kept for other figures
    "spirals": {"theta"}, "moving_tokens": {"grid", "bias", "absolute"},
}


def recorded(root, name: str, arrays: dict | None = None, **settings) -> Path:
    experiment, preset, make, metrics, *more = RECORDED[name]
    metrics = metrics() if callable(metrics) else metrics
    if name in BESIDE:
        keep(root, experiment, preset, make(), metrics, **BESIDE[name])
    return keep(root, experiment, preset, make() if arrays is None else arrays, metrics, **dict(*more), **settings)


def test_all_figures_of_recorded_runs_are_known(tmp_path):
    assert {name for name in figures() if "root" in inspect.signature(figures()[name]).parameters} == set(RECORDED)
    assert all(gallery(name, root=tmp_path).data is None for name in RECORDED)


WANTED = {  # presets, the one that is wanted most last
    "spirals": ("paper", "best"), "patient": ("small", "paper", "best"), "uea": ("paper", "best"),
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
    "missing": None,
    "no axes": lambda a: a.ravel()[0],
    "an axis more": lambda a: a[None],
    "empty": lambda a: a[:0],
    "shorter": lambda a: a[:-1],
    "NaN": lambda a: a * np.nan if a.dtype.kind == "f" else None,
    "huge": huge,
    "negative": lambda a: -2 - a if a.dtype.kind == "i" else None,
}


@pytest.mark.parametrize("name", RECORDED)
def test_whatever_is_wrong_with_arrays_ends_in_a_still_picture_that_names_the_file(name, tmp_path):
    path = recorded(tmp_path, name)
    good = records.load_arrays(path)
    assert gallery(name, root=tmp_path).data is not None
    for array in sorted(good.keys() - NOT_DRAWN.get(name, set()))[:15]:  # of the weights of a model, some will do
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

GROUNDS = {
    "light": ("#ffffff", "#222832"),
    "dark": ("#14181e", "#ced6dd"),
}  # ground and text of the book's theme


@pytest.fixture
def visit(browser, tmp_path):
    """visit(html, ...) -> page. At the end the page must have asked for nothing else and have reported no error."""
    contexts, problems = [], []

    def go(
        body: str,
        scheme: str = "light",
        host: str = "",
        width: int = 900,
        expect_errors: bool = False,
        **options,
    ):
        ground, text = GROUNDS[scheme]
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(
            f'<!doctype html><html {host or f"data-theme={scheme}"}><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<style>html{{background:{ground};color:{text}}}body{{font-family:sans-serif}}</style><body>{body}",
            encoding="utf-8",
        )
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on(
            "request",
            lambda request: request.url.startswith(("file:", "data:")) or problems.append(request.url),
        )
        if not expect_errors:
            page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert not problems


def state(page, index: int = 0) -> dict:
    """What a figure says of itself, once it has nothing left to work out (busy)."""
    figure = page.locator(".romae-explorable").nth(index)
    while (told := json.loads(figure.get_attribute("data-state"))).get("busy"):
        page.wait_for_timeout(50)
    return told


def test_spirals_numbers_agree_with_python_by_keyboard(visit):
    data = spirals.payload(arrays())
    page = visit(spirals.explorable(arrays()).html())
    assert state(page)["observed"] == 30
    for s in range(3):
        page.get_by_role("button", name=f"Test spiral {s + 1}").press("Enter")
        page.locator("input[type=range]").focus()
        page.keyboard.press("Home")
        for k, count in enumerate(COUNTS):
            now = state(page)
            assert (now["spiral"], now["observed"], now["hidden"]) == (s + 1, count, 75 - count)
            for model in ("romae", "bayes"):
                expected = f"{oracle_spirals.spiral_rmse(data, s, k, model):.4f}"
                assert now[f"rmse_{model}"] == expected
                assert expected in page.locator(".sp-legend").inner_text()
            page.keyboard.press("ArrowRight")


def test_spirals_reveal_plays_and_pauses(visit):
    page = visit(spirals.explorable(arrays()).html())
    page.locator("input[type=range]").press("Home")
    page.get_by_role("button", name="Reveal").click()
    page.wait_for_function("() => JSON.parse(document.querySelector('.romae-explorable').dataset.state).observed >= 8")
    page.get_by_role("button", name="Pause").click()
    assert state(page)["playing"] is False and page.get_by_role("button", name="Reveal").count() == 1


# Figures that say nothing without data have made-up data here; all others are taken from the gallery.
EXAMPLES = {
    "mask_ratio": of("autoencoder", "figure", "mask_ratio"),
    "patient": of("physionet", "figure"),
    "pendulum": of("pendulum", "figure"),
    "uea": of("uea", "figure"),
    "masked_picture": of("tiny_imagenet", "figure"),
    "sound": of("esc50", "figure"),
    "synthetic": of("synthetic", "figure"),
    "moving_tokens": of("cls", "figure"),
    "spirals": lambda: spirals.explorable(arrays()),
    "hero": of("hero", "figure"),
    "count_or_time": of("waves", "figure"),
    **{name: of("frequencies", "figure", name) for name in ("spectrum", "position_scale")},
    "cost": of("speed", "figure"),
    "filler": of("filler", "made"),
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


def check_readable(page, scheme: str) -> None:
    """Every text has the contrast that WCAG 2 asks for, and the palette is that of the scheme."""
    measured = page.evaluate(CONTRAST)
    assert len(measured) > 10
    assert min(measured.values()) >= 4.5, min(measured.items(), key=lambda item: item[1])
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
    check_readable(page, "dark")
    for width in (320, 390, 900):
        check_fits(page, width)
    for said in ("theme", "data-theme"):
        for scheme in ("light", "dark"):
            look(page, scheme, **{said: scheme})
            check_readable(page, scheme)
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
    page = visit(rotary_clock.explorable().html().replace(head, head + ' throw Error("no");'), expect_errors=True)
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
    page = visit(f"<details><summary>more</summary>{spirals.explorable(arrays()).html()}</details>")
    assert state(page)["observed"] == 30
    page.locator("summary").click()
    page.wait_for_function("() => document.querySelectorAll('.sp-plot circle').length === 75")


def test_clock_agrees_with_python(visit):
    page = visit(rotary_clock.explorable(position=3.7, dim=16, p=0.75, base=10_000).html())
    position, p = page.locator("input[type=range]").all()
    for value, dim, fraction, base in (
        ("41.37", 60, "0.35", 100),
        ("0", 4, "1", 100_000),
        ("99.99", 24, "0", 10),
    ):
        position.fill(value)
        p.fill(fraction)
        page.get_by_label("Head dimension").select_option(str(dim))
        page.get_by_label("Base").select_option(str(base))
        now = state(page)
        thetas = rotary_clock.frequencies(dim, float(fraction), base)
        assert now["angles"] == [f"{float(value) * theta:.4f}" for theta in thetas]
        assert now["agreement"] == f"{oracle_rotary_clock.agreement(float(value), dim, float(fraction), base):.3f}"
        assert (now["turning"], now["pairs"]) == (sum(t > 0 for t in thetas), dim // 2)
        assert page.locator(".rc-dials > div").count() == dim // 2
        shown = page.locator(".rc-dials > div").all_inner_texts()
        assert [text.strip() for text in shown] == [f"λ {oracle_rotary_clock.wavelength(theta)}" for theta in thetas]


def test_clock_hand_turns_with_the_pointer(visit):
    """Half a turn of the first hand, one radian per unit, adds pi; dragging on winds the clock beyond one turn."""
    page = visit(rotary_clock.explorable(position=0).html())
    box = page.locator(".rc-dials svg").first.bounding_box()
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] * 42 / 86, box["width"] * 36 / 92
    page.mouse.move(x + r, y)
    page.mouse.down()
    for turns in range(1, 13):
        angle = turns * math.pi / 4
        page.mouse.move(x + r * math.cos(angle), y - r * math.sin(angle))
        # positions are kept to 0.01, mouse positions to a pixel of a dial of about 36 pixels radius
        assert float(state(page)["position"]) == pytest.approx(angle, abs=0.08)
    page.mouse.up()
    page.mouse.move(x, y)
    assert float(state(page)["position"]) == pytest.approx(3 * math.pi, abs=0.08)
    page.locator(".rc-dials [role=slider]").first.press("Home")
    assert float(state(page)["position"]) == 0


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

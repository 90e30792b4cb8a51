"""The built website in a browser: it asks nobody else, raises no error, fits a phone, its figures answer."""

import gzip
import json
import re
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
import pytest
import yaml
from browser import serve
from conftest import ROOT

TOC = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
FIGURES = {path.stem for path in (ROOT / "book").glob("*.md") if "{explorable}" in path.read_text(encoding="utf-8")}
WITH_FIGURES = [page for page in PAGES if page.startswith("notebooks/") or page.removeprefix("book/") in FIGURES]
VIEWS = {"light": ("light", 1300, 900), "dark": ("dark", 1300, 900), "phone": ("light", 390, 844)}
WIDTHS = (1920, 1280, 1100, 1024, 768, 390, 320)

pytestmark = pytest.mark.usefixtures("browser")

# Interactive figures come when the reader is near (book/_ext/lighter.py): go to each, wait, and return.
BRING = """async () => {
  for (const figure of document.querySelectorAll(".romae-explorable[data-later]")) {
    if (!figure.checkVisibility()) continue;
    figure.scrollIntoView({behavior: "instant"});
    for (let i = 0; i < 1000 && figure.dataset.later; i++) await new Promise(done => setTimeout(done, 10));
  }
  scrollTo({top: 0, behavior: "instant"});
}"""

AXE = Path(axe_playwright_python.__path__[0]) / "axe.min.js"  # axe-core, as the PyPI package brings it along
# What axe-core may find, by rule, and why. Empty: nothing serious or critical is left.
ALLOWED: dict[str, str] = {}
# Contrast is measured where there is something to measure: not in figures, which tests/test_explorables.py and
# tests/test_figures.py measure, not in formulas, whose colour is that of the text, and of code, rows and paragraphs
# that look alike (names, classes and styles of all that is in them and around them, odd or even rows) in the first.
FINDINGS = """async scheme => {
  const light = scheme === "light", seen = new Set();
  const place = node => node.matches("article, body") ? "" : node.className + "<" + place(node.parentElement);
  for (const block of document.querySelectorAll("article :is(.highlight, tr, p, li, dd)")) {
    const nodes = [block, ...block.querySelectorAll(":not(svg *, mjx-container *)")];
    const kinds = nodes.map(node => [node.localName, node.className, node.getAttribute("style"), block.rowIndex % 2,
                                     place(block.parentElement)].join());
    block.classList.toggle("axe-seen", kinds.every(kind => seen.has(kind)));
    kinds.forEach(kind => seen.add(kind));
  }
  const options = {resultTypes: ["violations"], preload: false};
  const all = light ? await axe.run({exclude: [".romae-figure svg"]}, {...options, rules: {
    "color-contrast": {enabled: false}, "label-content-name-mismatch": {enabled: true}}}) : {violations: []};
  const hide = document.head.appendChild(document.createElement("style"));  // what is not there costs axe no time
  hide.textContent = ".romae-figure svg, .romae-live, mjx-container, .axe-seen { display: none !important }";
  const contrast = await axe.run(document, {...options, runOnly: ["color-contrast"]});
  hide.remove();
  return [...all.violations, ...contrast.violations].filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]);
}"""


@pytest.fixture(scope="module")
def address(site):
    with serve(site) as url:
        yield url


@pytest.fixture
def visit(browser, address, screenshots, request):
    """visit(page, view) opens a page; tab.problems collects foreign requests, errors and bad answers. Where the test
    fails, a picture of what was open stays in _build/screenshots."""
    tabs, failed = [], request.session.testsfailed

    def open_page(page: str, view: str = "light"):
        scheme, width, height = VIEWS[view]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=view == "phone",
            reduced_motion="reduce",
        )
        tab = context.new_page()
        tabs.append((tab, f"{page.replace('/', '-')}-{view}.png"))
        problems = tab.problems = []

        def gate(route):
            url = route.request.url
            if url.startswith((f"{address}/", "data:", "blob:", "about:")):
                return route.continue_()
            problems.append(f"request to {url}")
            return route.abort()

        tab.route("**/*", gate)
        tab.on("console", lambda m: m.type in ("error", "warning") and problems.append(f"console {m.type}: {m.text}"))
        tab.on("pageerror", lambda e: problems.append(f"page error: {e}"))
        tab.on("response", lambda r: r.status >= 400 and problems.append(f"{r.status} for {r.url}"))
        tab.goto(f"{address}/{page}.html", wait_until="load")
        tab.wait_for_function("document.fonts.status === 'loaded'")
        tab.evaluate(BRING)
        tab.wait_for_timeout(300)
        return tab

    yield open_page
    for tab, name in tabs:
        if request.session.testsfailed > failed:
            tab.screenshot(path=screenshots / name, full_page=True)
        tab.context.close()


def explorables(tab):
    return tab.locator(".romae-explorable[data-ready]").all()


def state(figure) -> dict:
    """What a figure says of itself, once it has nothing left to work out (busy)."""
    while (told := json.loads(figure.get_attribute("data-state"))).get("busy"):
        figure.page.wait_for_timeout(50)
    return told


def controls(figure, selector):
    return [c for c in figure.locator(selector).all() if c.is_visible() and c.is_enabled()]


def check_pointer(tab, figure) -> None:
    """A press on every range input, and a drag of every handle, changes the state that the figure shows."""
    for control in controls(figure, "input[type=range]"):
        control.scroll_into_view_if_needed()
        before, box = state(figure), control.bounding_box()
        for share in (0.12, 0.88):
            tab.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            if state(figure) != before:
                break
        assert state(figure) != before, "a range input does not answer to the pointer"
    for handle in controls(figure, "[role=slider]"):
        if handle.get_attribute("aria-valuemin") == handle.get_attribute("aria-valuemax"):
            continue  # what was dragged before has left it a single value
        handle.evaluate("node => node.scrollIntoView({block: 'center'})")  # not under the page's head
        before, box = state(figure), handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for dx, dy in ((60, 0), (-60, 0), (0, 60), (0, -60)):
            tab.mouse.move(x, y)
            tab.mouse.down()
            tab.mouse.move(x + dx, y + dy, steps=6)
            tab.mouse.up()
            if state(figure) != before:
                break
        assert state(figure) != before, "a handle does not follow the pointer"


def check_keyboard(tab, figure) -> None:
    """Every control, reached by focus alone, changes the state that the figure shows."""
    for control in controls(figure, "input[type=range], [role=slider], select, button:not(.romae-link button)"):
        if not (control.is_visible() and control.is_enabled()):
            continue  # a choice made on the way here took it away
        if control.evaluate("e => e.tagName === 'SELECT' && e.options.length === 1"):
            continue  # nothing to choose
        before, element = state(figure), control.element_handle()
        control.focus()
        name = control.evaluate("e => e.outerHTML")[:200]
        assert control.evaluate("e => e === document.activeElement"), f"takes no focus: {name}"
        if control.evaluate("e => e.tagName") == "BUTTON":
            tab.keyboard.press("Enter")
            chosen = "true" in (control.get_attribute("aria-pressed"), control.get_attribute("aria-checked"))
            if chosen and state(figure) == before:
                continue  # it was chosen already
        else:
            for key in ("ArrowRight", "ArrowUp", "Home", "End"):  # at one end of its range, one of them moves it
                tab.keyboard.press(key)
                if state(figure) != before:
                    break
        tab.wait_for_timeout(50)
        assert state(figure) != before, name
        kept = element.evaluate("e => e === document.activeElement || e.disabled || !e.checkVisibility()")
        assert kept, f"focus is lost on {name}"


def check_touch(tab, figure, swipe) -> None:
    """Whatever is dragged follows a finger without the browser taking it away. Up and down scroll the page and change
    nothing, but for what is dragged that way too (class romae-free)."""
    nodes = [n for n in figure.locator(".romae-drag").all() if n.is_visible()]
    followed, tried = not nodes, 0
    for node in nodes:
        if tried == 3:
            break
        middle = """e => {
            scrollBy({top: e.getBoundingClientRect().top - 400, behavior: "instant"});
            const box = e.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
            return e.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
        }"""
        name = node.evaluate("e => e.outerHTML")[:120]
        if not (place := node.evaluate(middle)):
            continue  # something else lies over it
        x, y = place
        tried += 1
        before = state(figure)
        assert not swipe(x, y, 60 if x < 195 else -60, 4), f"{name}: the browser took a sideways drag away"
        followed |= state(figure) != before
        if not (node.is_visible() and (place := node.evaluate(middle))):
            continue
        x, y = place
        before, top = state(figure), tab.evaluate("scrollY")
        swipe(x, y, 0, -60)
        if "romae-free" in node.get_attribute("class"):
            assert tab.evaluate("scrollY") == top, f"{name}: scrolls"
        else:
            assert tab.evaluate("scrollY") > top, f"{name}: keeps the page from scrolling"
            assert state(figure) == before, f"{name}: scrolling past changes it"
    assert followed, "nothing follows the finger"


@contextmanager
def phone(tab):
    """The open page on a phone's screen; yields swipe(x, y, dx, dy) -> whether the browser took the finger away."""
    size = tab.viewport_size
    tab.set_viewport_size(dict(zip(("width", "height"), VIEWS["phone"][1:], strict=True)))
    tab.evaluate("addEventListener('pointercancel', () => { window.cancelled = true; }, true)")
    touch = tab.context.new_cdp_session(tab)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def swipe(x, y, dx, dy):
        tab.evaluate("window.cancelled = false")
        send = lambda kind, points: touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})  # noqa: E731
        send("touchStart", [{"x": x, "y": y}])
        for i in range(1, 9):
            send("touchMove", [{"x": x + dx * i / 8, "y": y + dy * i / 8}])
            tab.wait_for_timeout(16)
        send("touchEnd", [])
        tab.wait_for_timeout(80)
        return tab.evaluate("window.cancelled")

    yield swipe
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    tab.set_viewport_size(size)


# Lab records are one page with other numbers: axe-core, which takes most of the time, looks at three of them that have
# all kinds of tables between them, and at the others weekly.
ALIKE = [page for page in PAGES if page.startswith("book/lab/") and page[9:] not in ("spirals", "speed", "uea")]


@pytest.mark.parametrize(
    ("page", "axe"),
    [(page, page not in ALIKE) for page in PAGES]
    + [pytest.param(page, True, marks=pytest.mark.weekly) for page in ALIKE],
)
def test_page_is_complete_and_quiet_and_its_figures_answer(visit, page, axe):
    """Loaded once: in the light, in the dark, and at every width from a television's to a small phone's; then every
    figure on a phone, by pointer and by finger, and on a desk by pointer and by keyboard (in this order: buttons may
    start what moves by itself)."""
    tab = visit(page)
    tab.wait_for_function("document.querySelector('.math:not(:has(mjx-container))') === null")  # formulas are typeset
    assert tab.evaluate("document.querySelectorAll('mjx-merror, .MathJax_Error').length") == 0
    if axe:
        tab.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("dark", "light") if axe else ():
        tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        tab.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        assert [found for found in tab.evaluate(FINDINGS, scheme) if found[0] not in ALLOWED] == []
    for width in (*WIDTHS, 1300):  # formulas, tables and code may scroll within themselves; the page may not
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, width
        assert tab.evaluate("window.scrollTo(500, 0), window.scrollX") == 0, width
    if page.startswith("notebooks/"):  # lines of 88 columns fit the last of these widths, a laptop's
        wide = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText)"
        assert tab.locator(".bd-article div.highlight pre").evaluate_all(wide) == []
    assert tab.locator(".romae-explorable:not([data-ready])").count() == 0
    assert bool(explorables(tab)) == (page in WITH_FIGURES)
    if page in WITH_FIGURES:
        with phone(tab) as swipe:
            for figure in explorables(tab):
                check_pointer(tab, figure)
            for figure in explorables(tab):
                check_touch(tab, figure, swipe)
    for check in (check_pointer, check_keyboard):
        for figure in explorables(tab):
            check(tab, figure)
    assert tab.problems == []


# Every shift of what is on the screen, from the first paint on, adds to window.moved.
MOVED = """window.moved = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) moved += entry.value;
}).observe({type: "layout-shift", buffered: true});"""


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["laptop", "phone"])
def test_landing_page_shows_the_thing_itself(browser, address, size):
    """On the first screen, without scrolling: the headline and the whole drawing; nothing moves when it comes, and a
    browser fetches little for it."""
    width, height = size
    tab = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    tab.add_init_script(MOVED)
    answers = []
    tab.on("response", lambda answer: answers.append(answer))
    tab.goto(f"{address}/{TOC['root']}.html", wait_until="load")
    tab.wait_for_selector(".romae-explorable[data-ready='1']")
    tab.wait_for_timeout(300)
    heading, figure = (
        tab.locator(selector).first.bounding_box() for selector in ("article h1", ".romae-explorable .romae-live svg")
    )
    assert 0 < heading["y"] < figure["y"] and figure["y"] + figure["height"] < height
    assert tab.evaluate("moved") < 0.1
    small = (".woff2", ".webp", ".png")  # compressed already; a server compresses the rest
    size = sum(len(a.body() if a.url.endswith(small) else gzip.compress(a.body())) for a in answers)
    assert size < 600_000
    tab.close()


@pytest.mark.parametrize("page", ["notebooks/01_rope", "notebooks/06_synthetic", "book/scoreboard", "book/fill"])
def test_nothing_moves_while_a_page_loads(browser, address, page):
    tab = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    tab.add_init_script(MOVED)
    tab.goto(f"{address}/{page}.html", wait_until="load")
    tab.wait_for_timeout(500)
    assert tab.evaluate("moved") < 0.1
    for name in ("description", "og:image", "og:title", "twitter:card"):
        assert tab.locator(f"meta:is([name='{name}'], [property='{name}'])").count() == 1
    assert tab.locator("script[src*=fontawesome]").count() == 0
    tab.close()


def test_chapter_shows_what_its_state_says(visit):
    """data-state is what tests read; the reader reads the text. They must not part."""
    tab = visit("notebooks/05_spirals")
    figure = tab.locator('.romae-explorable[data-explorable="hero"][data-ready]').first
    slider = figure.get_by_role("slider", name="Points", exact=True)
    slider.focus()
    seen = set()
    for key in ("End", "ArrowLeft", "Home"):
        tab.keyboard.press(key)
        now = state(figure)
        seen.add(len(now["points"]))
        assert slider.locator("xpath=../output").inner_text() == str(len(now["points"]))
        told = re.search(r"At angle (.+): .+ off by (.+), the best possible by (.+)\.", figure.inner_text()).groups()
        angle, *errors = map(float, told)
        assert angle == pytest.approx(now["theta"], abs=0.0051)  # told with two decimals, and errors with three
        assert errors == pytest.approx([float(now["rmse"]), float(now["rmseBest"])], abs=0.00056)
    assert len(seen) == 3


def test_colour_scheme_button_switches_and_figures_follow_and_print_is_light(visit):
    """Paper is white, whatever theme the reader has chosen."""
    tab = visit(TOC["root"], "light")
    figure = tab.locator(".romae-explorable").first
    ink = "e => getComputedStyle(e).color"
    ground = "() => getComputedStyle(document.body).backgroundColor"
    theme = lambda: tab.evaluate("document.documentElement.dataset.theme")  # noqa: E731
    light = (figure.evaluate(ink), tab.evaluate(ground))
    button = tab.locator(".theme-switch-button").first
    for _ in range(3):  # auto, light, dark
        if theme() == "dark":
            break
        button.click()
    dark = (figure.evaluate(ink), tab.evaluate(ground))
    assert light[0] != dark[0] and light[1] != dark[1]
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert theme() == "light" and figure.get_attribute("data-scheme") == "light"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert theme() == "dark" and tab.problems == []


def test_search_finds_the_chapter(visit):
    tab = visit("search")
    tab.goto(f"{tab.url}?q=spirals")
    tab.wait_for_selector("#search-results ul.search li a", timeout=20_000)
    hrefs = tab.locator("#search-results a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert any("05_spirals" in href for href in hrefs)
    assert tab.problems == []


def test_page_reads_without_scripts(browser, address):
    """With JavaScript off, text and a still picture of the figure remain."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1300, "height": 900})
    try:
        tab = context.new_page()
        tab.goto(f"{address}/{TOC['root']}.html")
        assert tab.locator("article h1").is_visible()
        assert tab.locator(".romae-explorable svg, .romae-explorable img").first.is_visible()
    finally:
        context.close()


def test_what_scrolls_says_so(visit):
    """On a phone code, tables, figures and formulas are wider than the page: they fade on the side where more is."""
    tab = visit("notebooks/01_rope", "phone")
    tab.wait_for_function("document.querySelector('mjx-container.romae-more-right') !== null")  # typeset by then
    boxes = tab.locator(".bd-article :is(pre, .romae-figure, mjx-container).romae-more-right")
    kinds = set(boxes.evaluate_all("nodes => nodes.map(node => node.localName)"))
    assert kinds == {"pre", "figure", "mjx-container"}
    for kind in kinds:
        box = tab.locator(f".bd-article {kind}.romae-more-right").first.element_handle()
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") > 3
        assert box.evaluate("box => getComputedStyle(box).maskImage") != "none"
        for place, left, right in (("box.scrollWidth", True, False), ("0", False, True)):
            box.evaluate(f"box => {{ box.scrollLeft = {place}; }}")
            tab.wait_for_function(
                "([box, left, right]) => box.classList.contains('romae-more-left') === left"
                " && box.classList.contains('romae-more-right') === right", arg=[box, left, right],
            )
    folded = tab.locator(".bd-article details:not([open]) pre").first.element_handle()
    assert folded.evaluate("box => box.classList.contains('romae-more-right')") is False  # nobody sees it yet
    folded.evaluate("box => { box.closest('details').open = true; }")
    tab.wait_for_function("box => box.classList.contains('romae-more-right')", arg=folded)
    narrow = tab.locator(".bd-article pre:not(.romae-more-right):visible").first
    cut = "box => box.scrollWidth - box.clientWidth - parseFloat(getComputedStyle(box).paddingRight)"
    assert narrow.evaluate(cut) <= 3

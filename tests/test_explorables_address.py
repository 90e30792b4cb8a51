"""A figure's state in the address, and tours: what one reader has set, another opens."""

import json
import re

import pytest
from figures import state
from test_explorables import MAKERS

from romae_book.explorables.rotary import two_tokens

LINK = "Copy a link to this figure as it stands"


def address(page) -> str:
    page.get_by_role("button", name=LINK).first.click()
    return page.evaluate("location.hash")


def opened(page, fragment: str):
    """The same page, opened anew with this fragment."""
    page.goto("about:blank")
    page.goto(page.romae + fragment)
    return page


@pytest.fixture
def show(visit):
    def go(figure, **options):
        page = visit(figure.html(), **options)
        page.romae = page.url
        return page

    return go


# What hangs on points with more than three decimals.
RANDOM = {
    "hero": ("points", "line", "bestLine", "answer", "best", "rmse", "rmseBest", "theta"),
}


HOSTILE = """async name => {
  const figure = document.querySelector(".romae-explorable"), found = [];
  const open = fragment => new Promise(done => {
    addEventListener("hashchange", done, {once: true});
    location.hash = fragment;
  });
  const controls = await new Promise(done => {
    console.warn = text => done(text.split("it has ")[1].split(", "));  // also of what is not there at the moment
    open(`${name}:nothing-of-this-name=1`);
  });
  let fragment = "";
  addEventListener("error", ({message}) => {
    if (!message.startsWith("ResizeObserver loop")) found.push(`${fragment}: ${message}`);  // that is no error
  });
  const look = () => {
    const wrong = (figure.innerText + figure.dataset.state).match(/.{0,20}(undefined|NaN|Infinity).{0,20}/);
    if (wrong) found.push(`${fragment}: ${wrong[0]}`);
  };
  const set = async (some, value) => {
    await open(fragment = `${name}:${some.map(control => `${encodeURIComponent(control)}=${value}`).join("&")}`);
    look();
  };
  for (const value of VALUES) await set(controls, value);
  for (const control of controls) for (const value of WORST) await set([control], value);
  await open(`${name}:`);
  look();
  return {controls: controls.length, found};
}"""
VALUES = ["0.5", "2.4999", "-1e9", "1e308", "1e-320", "0x10", "NaN", "", "%", "1_2~3", "1e308_1e308~-1e308_0~0_0"]
WORST = VALUES[2:4] + VALUES[-1:]  # of these one control after the other, of all of them all controls at once


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_set_comes_back_from_the_address_and_nonsense_breaks_nothing(show, name):
    """Every range, choice and switch moved; the address of that, opened on a fresh page, shows the very same state.
    Then fractions, far values and what is no number, in all controls."""
    page = show(MAKERS[name](), reduced_motion="reduce")
    told = lambda *more: {k: v for k, v in state(page).items() if k not in (*more, *RANDOM.get(name, ()))}  # noqa: E731
    start = told()
    live = page.locator(".romae-live")
    controls = live.locator("input[type=range], select, button[aria-pressed]").all()
    for control in controls or live.locator("[role=slider]").all():
        if not (control.is_visible() and control.is_enabled()):
            continue
        kind = control.evaluate("e => e.tagName")
        if kind == "SELECT":
            control.select_option(index=control.evaluate("e => e.options.length") - 1)
        else:
            for key in ["Enter"] if kind == "BUTTON" else ["PageDown", "ArrowRight"]:
                control.press(key)
    changed, fragment = told(), address(page)
    assert changed != start and re.fullmatch(r"#[a-z_0-9]+:[^\s#]+", fragment), fragment
    opened(page, fragment)
    assert told() == changed, fragment
    page.evaluate("name => { location.hash = `${name}:`; }", name)
    page.wait_for_timeout(100)  # hashchange comes later
    assert told() == start
    hostile = HOSTILE.replace("VALUES", json.dumps(VALUES)).replace("WORST", json.dumps(WORST))
    result = page.evaluate(hostile, name)
    assert result["controls"] and not result["found"], result["found"][:5]
    start.pop("said", None)
    assert told("said") == start


def test_python_and_the_page_write_the_same_address(show):
    figure = two_tokens.explorable()
    page = show(figure)
    page.get_by_label("Position of the query").press("End")
    page.get_by_label("Query and key").select_option("at odds")
    assert address(page) == figure.address(vectors="at odds", query=30)  # in the order in which the figure makes them
    now = state(opened(page, figure.address(**{"Dials": 2, "key": -3})))  # a label does as well as a name
    assert (now["pairs"], now["query"], now["key"]) == (2, "7.25", "-3.00")


def test_a_sentence_opens_a_state_on_its_own_page(show):
    figure = two_tokens.explorable()
    page = show(figure)
    page.evaluate("a => document.body.insertAdjacentHTML('afterbegin', `<a href='${a}'>far apart</a>`)",
                  figure.address(query=-30, key=30))
    page.get_by_label("Dials").press("Home")
    page.get_by_role("link", name="far apart").click()
    page.wait_for_function(
        "JSON.parse(document.querySelector('.romae-explorable').dataset.state).difference === '60.00'"
    )
    assert state(page)["pairs"] == 4  # what the sentence does not name is as the figure opens


def test_points_of_the_hero_are_in_the_address(show):
    figure = MAKERS["hero"]()
    page = show(figure)
    page.get_by_role("button", name="new spiral").click()
    page.get_by_role("slider", name="Points", exact=True).press("Home")
    page.locator(".he-plot svg").click(position={"x": 8, "y": 8})
    changed = state(page)
    again = state(opened(page, address(page)))
    assert again["seed"] == changed["seed"] == state(opened(page, "")).get("seed") + 1
    for ours, theirs in zip(again["points"], changed["points"], strict=True):
        assert ours == pytest.approx(theirs, abs=6e-4)  # three decimals
    for k in range(2):
        assert again["answer"][k] == pytest.approx(changed["answer"][k], abs=0.02)  # the model, of points that far off


def pressed(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize(
    ("name", "buttons", "kept"),
    [
        ("walk", ["new series", "draw again"], ("hidden", "times", "loss")),
        ("masked_picture", ["draw again", "a block"], ("hidden", "mse")),
        ("synthetic", ["New series", "New series"], ("series", "observed")),
        ("filler", ["remove the chosen point", "add a point"], ("points",)),
        ("filler", ["draw a series"], ("points",)),
    ],
)
def test_what_buttons_have_drawn_is_in_the_address(show, name, buttons, kept):
    page = show(MAKERS[name]())
    start = state(page)
    pressed(page, *buttons)
    changed = state(page)
    again = state(opened(page, address(page)))
    for key in kept:
        assert changed[key] != start[key]
        if key == "points":  # nine digits
            assert [x for p in again[key] for x in p] == pytest.approx([x for p in changed[key] for x in p], rel=1e-7)
        else:
            assert again[key] == changed[key], key


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("two_tokens", "#50%:x"),
        ("two_tokens", "#two_tokens:query=abc&vectors=old&dials="),
        ("synthetic", "#synthetic:observed-point-1=abc&series=999&observed=x"),
        ("walk", "#walk:hidden=1_2_900&readings=1_2~3_4&step=abc&matrix=constructor"),
        ("hero", "#hero:seed=abc&places=1_2"),
        ("filler", "#filler:points=abc&example=99"),
    ],
)
def test_an_address_that_is_cut_or_old_leaves_a_figure_as_it_opens(show, name, broken):
    page = show(MAKERS[name]())
    start = state(page)
    found = state(opened(page, broken))
    left = lambda told: {k: v for k, v in told.items() if k not in ("busy", "said")}  # noqa: E731  (said: the complaint)
    assert left(found) == left(start)


def test_a_number_beyond_all_use_is_refused_in_one_way(show):
    """Pasted or in the address: one check, one sentence."""
    page = show(MAKERS["filler"]())
    points = state(page)["points"]
    for number in ("1e308", "1e-320", "0x10", "NaN", "1,000.5.2", "--3"):
        opened(page, "").locator("summary").click()
        page.locator("textarea").fill(f"1, 2\n3, {number}\n5, 6\n7, 8")
        page.get_by_role("button", name="use these points").click()
        said = state(page)["said"]
        assert f"Line 2 is “3, {number}" in said and state(page)["points"] == points, number
        again = state(opened(page, f"#filler:points=1_2~3_{number.replace(',', '')}~5_6~7_8"))
        assert again["said"].startswith("Line 2 is “3, ") and again["points"] == points, number


def test_only_the_first_figure_of_a_name_answers_and_unknown_names_are_said(show, visit):
    figure = two_tokens.explorable()
    page = visit(figure.html() * 2, expect_errors=True)
    page.romae, said = page.url, []
    page.on("console", lambda message: said.append(message.text))
    opened(page, figure.address(query=-1, speed=3))
    assert state(page, 0)["query"] == "-1.00" and state(page, 1)["query"] == "7.25"
    page.wait_for_timeout(100)
    assert any("two_tokens has no speed; it has " in text for text in said)


def test_no_link_in_jupyterlab(visit):
    page = visit(
        '<script id="jupyter-config-data" type="application/json">{}</script>' + two_tokens.explorable().html()
    )
    assert page.locator(".romae-live svg").count() and page.get_by_role("button", name=LINK).count() == 0


# --- tours ------------------------------------------------------------------------------------------------------------

STEPS = (
    ("Both stand at the same place.", {"query": 0, "key": 0}),
    ("<b>Far</b> apart.", {"query": -30, "key": 30, "vectors": "at odds"}),
    ("One dial.", {"dials": 1}),
)


def test_a_tour_goes_on_and_back_and_ends(show):
    page = show(two_tokens.explorable().tour(*STEPS))
    start = state(page)
    press = lambda name: page.get_by_role("button", name=name, exact=True).press("Enter")  # noqa: E731
    said = lambda: page.locator(".romae-step p").inner_text()  # noqa: E731
    focus = lambda: page.evaluate("document.activeElement.textContent")  # noqa: E731
    press("show me, in 3 steps")
    assert focus() == "next" and said() == "1 of 3. Both stand at the same place."
    assert (state(page)["tour"], state(page)["difference"], state(page)["vectors"]) == (1, "0.00", start["vectors"])
    press("next")
    assert said() == "2 of 3. <b>Far</b> apart." and focus() == "next"
    assert (state(page)["tour"], state(page)["difference"], state(page)["vectors"]) == (2, "60.00", "at odds")
    page.get_by_label("Position of the query").press("Home")  # the reader may play in between
    press("next")
    last = state(page)
    assert (last["tour"], last["pairs"], last["query"], last["vectors"]) == (3, 1, start["query"], start["vectors"])
    press("back")
    assert state(page)["difference"] == "60.00"
    press("back")
    assert page.get_by_role("button", name="back", exact=True).is_disabled() and focus() == "next"
    press("leave the tour")
    assert "tour" not in state(page) and focus() == "show me, in 3 steps"
    assert not page.locator(".romae-step").is_visible()


@pytest.mark.parametrize("step", [("", {}), ("words",), ("words", 3)])
def test_a_step_is_a_caption_and_a_state(step):
    with pytest.raises(ValueError, match="a step of the tour of 'two_tokens' is"):
        two_tokens.explorable().tour(step)


def test_a_tour_cannot_end_the_script():
    figure = two_tokens.explorable().tour()
    assert figure.steps == () and "</script><b>" not in figure.tour(("</script><b>", {})).html()

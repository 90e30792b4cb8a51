"""What every figure is drawn with: scales, ticks, axes, curves, and the check of numbers that come from outside."""

import math

import numpy as np
import pytest

from romae_book.explorables.explorable import KIT


@pytest.fixture(scope="module")
def kit(browser):
    """kit(expression, argument) -> its value in a page, one for all tests, that has the kit and an argument `a`."""
    scripts = "\n".join((KIT / name).read_text() for name in ("runtime.js", "plot.js"))
    page, problems = browser.new_page(), []
    page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_content(f"<main></main><script>{scripts}\nwindow.kit = kit;</script>")
    yield lambda expression, a=None: page.evaluate(f"a => {expression}", a)
    page.close()
    assert not problems


DOMAINS = [(0, 1), (-3, 3), (7, 2_000), (1e-4, 0.03), (2_450_000.5, 2_450_001)]


@pytest.mark.parametrize("domain", DOMAINS)
def test_scales_are_straight_lines_of_the_value_or_of_its_logarithm(kit, domain):
    values = np.linspace(*domain, 7).tolist()
    given = [domain, [40, 600], values]
    expected = np.interp(values, domain, (40, 600))
    np.testing.assert_allclose(kit("a[2].map(kit.linear(a[0], a[1]))", given), expected)
    np.testing.assert_allclose(kit("a[2].map(v => kit.linear(a[0], a[1]).invert(kit.linear(a[0], a[1])(v)))", given),
                               values, atol=1e-12, rtol=1e-12)
    if domain[0] > 0:
        expected = np.interp(np.log(values), np.log(domain), (40, 600))
        np.testing.assert_allclose(kit("a[2].map(kit.log(a[0], a[1]))", given), expected, rtol=1e-9)
        back = kit("a[2].map(v => kit.log(a[0], a[1]).invert(kit.log(a[0], a[1])(v)))", given)
        np.testing.assert_allclose(back, values)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("count", [3, 5, 8])
def test_ticks_are_round_numbers_inside(kit, domain, count):
    ticks = kit("kit.linear(a[0], [0, 1]).ticks(a[1])", [domain, count])
    steps = np.diff(ticks)
    assert 2 <= len(ticks) <= 2 * count + 1 and domain[0] - 1e-9 <= ticks[0] and ticks[-1] <= domain[1] + 1e-9
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    leading = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
    assert min(abs(leading - digit) for digit in (1, 2, 5)) < 1e-6


@pytest.mark.parametrize(
    ("domain", "expected"),
    [((1, 10), [1, 2, 5, 10]), ((0.008, 1.3), [0.01, 0.03, 0.1, 0.3, 1]), ((1, 1e5), [1, 10, 100, 1e3, 1e4, 1e5])],
)
def test_ticks_of_a_logarithm_thin_out(kit, domain, expected):
    assert kit("kit.log(a, [0, 1]).ticks()", domain) == expected


def test_axes_put_every_number_at_its_place(kit):
    drawn = kit("""(() => {
      const box = {left: 40, right: 200, top: 20, bottom: 120};
      const x = {scale: kit.linear([0, 100], [40, 200]), ticks: [0, 50, 100], label: "time", line: true};
      const y = {scale: kit.log([0.1, 10], [120, 20]), label: "error", format: v => `${v}!`};
      return kit.axes(box, {x, y}).map(node => ({
        kind: node.tagName, text: node.textContent,
        ...Object.fromEntries([...node.attributes].map(one => [one.name, one.value]))}));
    })()""")
    texts = {node["text"]: node for node in drawn if node["kind"] == "text"}
    assert list(texts) == ["0.1!", "0.3!", "1!", "3!", "10!", "error", "0", "50", "100", "time"]
    assert [float(texts[name]["x"]) for name in ("0", "50", "100")] == [40, 120, 200]
    assert [float(texts[name]["y"]) - 4 for name in ("0.1!", "1!", "10!")] == pytest.approx([120, 70, 20])
    rules = [node for node in drawn if node["kind"] == "line"]
    assert len(rules) == 6 and all((rule["x1"], rule["x2"]) == ("40", "200") for rule in rules)
    assert [float(rule["y1"]) for rule in rules[:5:2]] == pytest.approx([120, 70, 20])


def test_a_curve_goes_through_its_points(kit):
    points = np.random.default_rng(0).normal(0, 100, (20, 2))
    path = kit("kit.curve(a, 'red', 2, '3 4').getAttribute('d')", points.tolist())
    found = [list(map(float, pair.split())) for pair in path[1:].split("L")]
    np.testing.assert_allclose(found, points, atol=0.005)  # two decimals
    assert kit("kit.path([])") == ""


def test_a_legend_switches_and_says(kit):
    assert kit("""(() => {
      const rows = [{id: "a", name: "first", colour: "red"}, {id: "b", name: "second", colour: "blue", dash: "2 2"}];
      const shown = {a: true, b: false}, seen = [];
      const legend = kit.legend({rows, shown, head: ["show", "error", "more"], change: () => seen.push({...shown})});
      document.querySelector("main").append(legend.node);
      legend.write("b", "0.5", "12");
      const [, b] = legend.node.querySelectorAll("button");
      const pressed = () => b.getAttribute("aria-pressed");
      const before = pressed();
      b.click();
      return [before, pressed(), b.textContent, seen];
    })()""") == ["false", "true", "second0.512", [{"a": True, "b": True}]]


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), (" -2.5 ", -2.5), ("+.5", 0.5), ("5.", 5), ("1e3", 1000), ("0", 0), ("0.00e0", 0), ("-1e-99", -1e-99),
     ("2460000.5", 2460000.5)]
    + [(text, None) for text in ("", "0x10", "1e308", "-1e101", "1e-320", "1e-999", "NaN", "Infinity", "1 2", "1,5",
                                 "abc", "--1", "1e")],
)
def test_a_number_from_outside_is_decimal_and_of_a_size_that_sums_bear(kit, text, value):
    found = kit("[kit.number(a)].map(v => Number.isNaN(v) ? null : v)[0]", text)
    assert found == value


def test_rows_of_numbers_are_whole_or_nothing(kit):
    assert kit("kit.rows('1_2~3_4.5', 2)") == [[1, 2], [3, 4.5]]
    for cut in ("1_2~3", "1_2~", "1_2~3_x", "", "1_2_3"):
        assert kit("kit.rows(a, 2)", cut) is None

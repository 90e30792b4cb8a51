"""The colours of the book: one dictionary for the interactive figures, for the matplotlib figures and for the tests.

The hues follow Okabe and Ito's set, which stays distinct under the common colour-vision deficiencies. Each is shifted
just enough to reach a contrast of 4.5 : 1 on white (light value) and on the themes' dark grounds (dark value), so that
text may carry it too. Colour is never alone: lines also differ in dash and markers in shape.
"""

PALETTE: dict[str, tuple[str, str]] = {  # name: (on a light ground, on a dark ground)
    "blue": ("#0072b2", "#56b4e9"),  # RoMAE, everywhere
    "vermillion": ("#c04f00", "#ff8c42"),  # the Bayes-optimal predictor and other bounds
    "green": ("#007a59", "#2cc295"),
    "purple": ("#a8437b", "#e79cc5"),
    "amber": ("#946200", "#f0b93a"),
    "grey": ("#6b7280", "#a9b1bc"),
}

# How a page says that it is dark: this book and other Sphinx sites, JupyterLab, Colab, VS Code.
DARK_HOSTS = (
    'html[data-theme="dark"]',
    '[data-jp-theme-light="false"]',
    'html[theme="dark"]',
    "body.vscode-dark",
)


def colour_css(root: str) -> str:
    """CSS that defines --romae-<name> on the selector `root` for light and for dark surroundings.

    A `data-scheme` attribute on the element itself, "light" or "dark", wins over the guess from the surroundings.
    """
    light, dark = (";".join(f"--romae-{name}:{pair[i]}" for name, pair in PALETTE.items()) for i in (0, 1))
    hosts = ",".join(f"{host} {root}:not([data-scheme])" for host in DARK_HOSTS)
    return f"{root}{{color-scheme:light;{light}}}\n{hosts},{root}[data-scheme=dark]{{color-scheme:dark;{dark}}}"


def figure_number(number: str) -> str:
    """What a caption begins with: "Figure 2.3", and where a link to it leads; nothing without a number."""
    return f'<b class="romae-number" id="fig-{number.replace(".", "-")}">Figure {number}.</b> ' if number else ""

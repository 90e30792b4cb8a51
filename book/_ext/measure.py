"""What the chapters and pages of the built site measure: python book/_ext/measure.py _build/html

Of a chapter: words of its text, numbers per hundred of these, lines of code in view, folded and hidden. Of every page,
heaviest first, in kB: its HTML, the same compressed as a server sends it, and the files that come when a figure is seen
(their number behind them). With Chromium also how far the layout shifts while a page loads (1280 pixels wide).
"""

import gzip
import json
import re
import sys
from pathlib import Path

SHIFT = """
() => new Promise(done => { let sum = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
}).observe({type: "layout-shift", buffered: true}); setTimeout(() => done(sum), 1500); })
"""
FOLDED, HIDDEN = {"hide-input", "hide-cell"}, {"remove-input", "remove-cell"}


def prose(notebook: Path) -> str:
    """The text of a chapter: no code, formulas, addresses, solutions or markup."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    text = re.sub(r":::\{dropdown\}.*?\n:::|```.*?```|\$\$.*?\$\$(?: \([\w-]+\))?", "", text, flags=re.S)
    text = re.sub(r"^    .*$|^:\w+:.*$|^\([\w-]+\)=$", "", text, flags=re.M)
    text = re.sub(r"\$[^$]*\$|(?:\{[\w:]+\})?`[^`]*`", " x ", text)
    return re.sub(r"[#*|>`\[\]()_-]+", " ", text)


def reading(notebook: Path) -> tuple[int, float]:
    """Words, and numbers per hundred words: digits that stand alone, not those of names such as Table 1."""
    text = prose(notebook)
    words = len(re.findall(r"[A-Za-zÀ-ÿ'’]+", text))
    told = re.sub(r"\b(?:chapters?|figures?|tables?|sections?|appendix|D|exercise) ?[A-Z]?\.?\d[\d.]*", " ", text,
                  flags=re.I)
    return words, 100 * len(re.findall(r"(?<![\w.])\d[\d.,]*(?![\w])", told)) / max(words, 1)


def code(notebook: Path) -> tuple[int, int, int]:
    """Lines of code in view, folded and hidden; blank ones do not count."""
    counts = [0, 0, 0]
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tags = set(cell["metadata"].get("tags", ()))
            counts[2 if tags & HIDDEN else 1 if tags & FOLDED else 0] += sum(
                bool(line.strip()) for line in "".join(cell["source"]).splitlines()
            )
    return tuple(counts)


def weigh(site: Path) -> list[tuple[str, int, int, int, int]]:
    """Page, bytes of HTML, bytes compressed, bytes that come later, and their files."""
    rows = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        content = path.read_bytes()
        names = set(re.findall(rb'(?:data-later|src)="(?:\.\./)*(_later/[^"]+)"', content))
        later = sum((site / name.decode()).stat().st_size for name in names)
        page = path.relative_to(site).as_posix()
        rows.append((page, len(content), len(gzip.compress(content, 9, mtime=0)), later, len(names)))
    return sorted(rows, key=lambda row: -row[1])


def shifts(site: Path, pages: list[str]) -> dict[str, float]:
    """How far the layout of each page shifts while it loads; {} without Chromium."""
    from browser import chromium, find_chromium, serve

    if find_chromium() is None:
        return {}
    found = {}
    with chromium() as browser, serve(site) as address:
        for page in pages:
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(f"{address}/{page}", wait_until="networkidle")  # a page that has moved leads on first
            found[page] = tab.evaluate(SHIFT)
            tab.close()
    return found


if __name__ == "__main__":
    site = Path(sys.argv[1])
    print(f"{'words':>6} {'numbers':>8} {'code':>5} {'folded':>6} {'hidden':>6}")
    total = [0, 0, 0]
    for path in sorted(Path(__file__).parents[2].glob("notebooks/*.ipynb")):
        (words, numbers), lines = reading(path), code(path)
        total = [a + b for a, b in zip(total, lines, strict=True)]
        print(f"{words:6} {numbers:8.1f} {lines[0]:5} {lines[1]:6} {lines[2]:6}  {path.stem}")
    print(f"{'':15} {total[0]:5} {total[1]:6} {total[2]:6}  together\n")
    weights = weigh(site)
    moved = shifts(site, [row[0] for row in weights])
    print(f"{'HTML':>7} {'gzip':>6} {'later':>7} {'files':>5} {'shift':>6}  kB")
    for page, size, small, later, files in weights:
        shift = f"{moved[page]:6.3f}" if moved else "     –"
        print(f"{size / 1e3:7.0f} {small / 1e3:6.0f} {later / 1e3:7.0f} {files:5} {shift}  {page}")

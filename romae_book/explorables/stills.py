"""Pictures of the figures as they open, for readers whose scripts are stripped.

    python -m romae_book.explorables.stills            all of them
    python -m romae_book.explorables.stills hero uea   these

Each is the live figure itself, photographed once in a browser ($CHROMIUM, else the chromium on the path, else
Playwright's) and kept in stills/ as NAME.webp, 720 pixels wide, black on white, for either colour scheme.
`sources.json` holds what each was made of; a test says which are out of date. `heights.json` holds how high its drawing
is, so that a page has room for it before it is drawn.
"""

import hashlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

from .explorable import HEIGHTS, STILLS, script_of
from .gallery import figures, gallery

SOURCES = STILLS / "sources.json"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
WIDTH = 720
WIDTHS = (326, WIDTH)  # of a phone's page, with the padding that it has here, and of the picture
PAGE = """<!doctype html><html data-theme=light><meta charset=utf-8>
<style>body{margin:0;font:16px sans-serif;color:#222832}
.romae-link,.romae-tour,.romae-title,figcaption{display:none!important}
figure{border:0!important;margin:0!important;padding:8px!important;background:#fff!important}</style>"""


def source(name: str) -> str:
    """A hash of what draws the figure; what is drawn may differ in its last digits from machine to machine."""
    script = script_of(name)
    files = [path for path in (script, script.with_suffix(".css")) if path.is_file()]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def html(name: str) -> str:
    """The figure as the book has it: of the gallery, or, where a chapter trains its model, of that chapter's output."""
    try:
        return gallery(name).html()
    except TypeError:  # it wants a model
        pass
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                text = "".join(output.get("data", {}).get("text/html", ""))
                if f'data-explorable="{name}"' in text:
                    return text
    raise ValueError(f"no executed notebook shows {name!r}; execute its chapter first")


def photograph(browser, page: str) -> tuple[bytes, list[int]]:
    """WebP of the first figure of a page, once it has nothing left to work out, and how high its drawing is on a phone
    and where there is room."""
    from PIL import Image

    tab = browser.new_page(viewport={"width": WIDTH, "height": 900})
    tab.set_content(PAGE + page)
    tab.wait_for_function("!JSON.parse(document.querySelector('figure').dataset.state).busy")
    tab.wait_for_timeout(600)  # what moves by itself has arrived
    for button in tab.locator("[data-photo]").all():  # what is to be pressed first
        button.click()
        tab.wait_for_function("!JSON.parse(document.querySelector('figure').dataset.state).busy", timeout=300_000)
    picture = Image.open(io.BytesIO(tab.locator("figure").first.screenshot()))
    heights = []
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_timeout(200)
        heights.append(round(tab.locator(".romae-live").first.bounding_box()["height"]))
    tab.close()
    out = io.BytesIO()
    picture.convert("RGB").quantize(48).convert("RGB").save(out, "webp", lossless=True, quality=100, method=6)
    return out.getvalue(), heights


def main(names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    STILLS.mkdir(exist_ok=True)
    made, room = (json.loads(file.read_text()) if file.is_file() else {} for file in (SOURCES, HEIGHTS))
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in names or sorted(figures()):
            picture, heights = photograph(browser, html(name))
            (STILLS / f"{name}.webp").write_bytes(picture)
            made[name], room[name] = source(name), heights
            print(f"{name}: {len(picture) / 1000:.0f} kB")
        browser.close()
    for file, content in ((SOURCES, made), (HEIGHTS, room)):
        file.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

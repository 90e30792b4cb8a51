"""The README's picture of the site: python book/_ext/picture.py _build/html book/_static/site.png"""

import sys
from pathlib import Path

from browser import chromium, serve


def take(site: Path, out: Path, page: str = "book/intro.html", width: int = 1300, height: int = 900):
    with chromium() as browser, serve(site) as address:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light")
        tab = context.new_page()
        tab.goto(f"{address}/{page}", wait_until="load")
        tab.wait_for_selector(".romae-explorable[data-ready]")
        tab.wait_for_timeout(500)  # fonts and formulas settle
        tab.screenshot(path=out)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))

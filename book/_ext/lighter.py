"""Pages that open quickly: what is large in them stands in files of its own and is fetched when the reader comes near.

A notebook is one file, and its figures are whole: each carries its data, its scripts and a picture for places that run
none. On the site that would make pages of a megabyte. Here the large ones move to `_later/`, named by their content:

    an interactive figure      its script and data; the figure gets data-later, and romae.js fetches it
    a drawing of matplotlib    what is inside <svg>; the empty element keeps its place and its size
    a picture as a data: URI   an ordinary image file with loading=lazy

Scripts, not fetch(): a site that is opened as a file may not fetch. Without scripts the pictures are shown instead.
"""

import base64
import hashlib
import io
import json
import re
from pathlib import Path, PurePosixPath

from PIL import Image

LARGE = 12_000  # bytes; less than that stays where it is
FOLDER = "_later"

SCRIPT = re.compile(
    r'<script>(\(\(\) => \{"use strict";(?:(?!</script>).)*?kit\.mount\("(romae-\w+)".*?)</script>', re.S
)
DRAWING = re.compile(r'(<svg style="width:\d+px[^>]*)>((?:(?!</svg>).)*)</svg>(?=<img)', re.S)
PICTURE = re.compile(r'(<img [^>]*?)src="data:image/(png|jpeg|webp|svg\+xml);base64,([A-Za-z0-9+/=]+)"')
STYLE = re.compile(r"<style>.*?</style>", re.S)
# An interval, 0.48 [0.31, 0.66], is not broken inside its brackets, except where a row has too many to fit.
ROW, INTERVAL = re.compile(r"<tr.*?</tr>", re.S), re.compile(r"(<td[^>]*>[^<\[]*)(\[[−+-]?[\d.]+, [−+-]?[\d.]+\])")
FIT = 3
WITHOUT_SCRIPTS = (
    "<noscript><style>.romae-figure svg[data-later]{display:none}"
    ".romae-figure svg[data-later]+img{display:inline}</style></noscript>"
)


def lighter(body: str, page: str, out: Path) -> str:
    """The body of a page without what is large in it; that is written below `out`, the folder of the site.

    page: the page's name, "notebooks/05_spirals".
    """
    up = "../" * (len(PurePosixPath(page).parts) - 1)

    def keep(content: bytes, suffix: str) -> str:
        path = out / FOLDER / f"{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return f"{up}{FOLDER}/{path.name}"

    def script(match):
        if len(match[1]) < LARGE:
            return match[0]
        moved[match[2]] = keep(match[1].encode(), ".js")
        return ""

    def drawing(match):
        if len(match[2]) < LARGE:
            return match[0]
        key = hashlib.sha256(match[2].encode()).hexdigest()[:16]
        content = f"(window.romaeDrawings ??= {{}})[{json.dumps(key)}] = {json.dumps(match[2], ensure_ascii=False)};\n"
        return f'{match[1]} data-drawing="{key}" data-later="{keep(content.encode(), ".js")}"></svg>'

    def picture(match):
        if len(match[3]) < LARGE / 4:
            return match[0]
        content = base64.b64decode(match[3])
        if match[2] == "svg+xml":
            found = re.match(rb'<svg [^>]*?width="(\d+)" height="(\d+)"', content)
            size = found and (int(found[1]), int(found[2]))
        else:
            size = Image.open(io.BytesIO(content)).size
        place = f' width="{size[0]}" height="{size[1]}"' * (size is not None and " width=" not in match[1])
        suffix = ".svg" if match[2] == "svg+xml" else f".{match[2]}"
        return f'{match[1]}src="{keep(content, suffix)}" loading="lazy"{place}'

    def whole(match):
        row, count = INTERVAL.subn(r'\1<span class="romae-whole">\2</span>', match[0])
        return row if count <= FIT else match[0]

    def once(match):
        return "" if match[0] in styles else styles.add(match[0]) or match[0]

    moved, styles = {}, set()
    body = SCRIPT.sub(script, body)
    for key, address in moved.items():
        opening = f'<figure class="romae-explorable {key}"'
        body = body.replace(opening, f'{opening} data-later="{address}"')
    body = STYLE.sub(once, PICTURE.sub(picture, DRAWING.sub(drawing, body)))
    body = ROW.sub(whole, body)
    return (WITHOUT_SCRIPTS if "data-drawing" in body else "") + body


def of_pages(app, pagename, templatename, context, doctree):
    if app.builder.name == "html" and context.get("body"):
        context["body"] = lighter(context["body"], pagename, Path(app.outdir))


def setup(app):
    app.connect("html-page-context", of_pages)

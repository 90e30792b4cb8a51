"""Old addresses of pages lead on to the new ones: a small static page stands where each was.

A page that moves gets a line here; the test of the built site follows each of them.
"""

import html
from pathlib import Path, PurePosixPath

MOVED = {  # old page -> new page, without .html
    "book/encodings": "book/times",
    "notebooks/02_cls": "notebooks/03_cls",
    "notebooks/03_autoencoder": "notebooks/02_model",
    "notebooks/04_frequencies": "notebooks/04_units",
}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<link rel="canonical" href="{to}"><meta http-equiv="refresh" content="0; url={to}">
<script>location.replace({script} + location.search + location.hash);</script></head>
<body><p>This page has moved: <a href="{to}">{name}</a></p></body></html>
"""


def redirects(pages: set[str], moved: dict[str, str] = MOVED) -> dict[str, str]:
    """Old page -> text of what stands there, for those whose old page is gone and whose new page is there."""
    found = {}
    for old, new in moved.items():
        if old in pages or new not in pages:
            continue
        up = [".."] * (len(PurePosixPath(old).parts) - 1)
        to = html.escape("/".join([*up, f"{new}.html"]))
        found[old] = PAGE.format(to=to, script=f'"{to}"', name=html.escape(new))
    return found


def write(app, exception):
    if exception or app.builder.name != "html":
        return
    for old, text in redirects(set(app.env.found_docs)).items():
        path = Path(app.outdir) / f"{old}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write)

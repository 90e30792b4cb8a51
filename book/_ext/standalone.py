"""Figures as pages of their own, to be linked, shown in a lecture and embedded: figures/<name>.html on the built site.

Each is one file: script, data, weights and style inside, at most 300 kB. `{figures_alone}` lists them on a page.
"""

from html import escape
from pathlib import Path

from docutils import nodes

from romae_book.explorables.explorable import STILLS
from romae_book.explorables.gallery import gallery

FIGURES = {  # name -> the page that explains it
    "count_or_time": "book/intro", "two_tokens": "notebooks/01_rope", "attention_kernel": "notebooks/01_rope",
    "start_later": "notebooks/01_rope", "walk": "notebooks/02_model", "position_scale": "notebooks/04_units",
    "fold": "notebooks/10_elasticc",
}
FOLDER = "figures"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title><meta name="description" content="{caption}">
<meta property="og:title" content="{title}"><meta property="og:description" content="{caption}">
<meta property="og:image" content="{base}{name}.webp"><meta property="og:type" content="article">
<meta name="twitter:card" content="summary_large_image">{canonical}
<style>body{{margin:0 auto;padding:.6rem 1rem;max-width:60rem;font-family:system-ui,sans-serif;background:#fff;
color:#1c1c1c}}html[data-theme=dark] body{{background:#14181e;color:#e6e8eb}}figure{{margin:0}}
footer{{font-size:.85rem;margin:.8rem 0 0}}footer a{{color:inherit}}</style>
<script>document.documentElement.dataset.theme =
matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";</script>
</head><body><main>{figure}</main>
<footer>From <a href="../{page}.html" target="_top">{book}</a>.</footer></body></html>
"""
SNIPPET = '<iframe src="{address}" width="100%" height="640" style="border:0" loading="lazy" title="{title}"></iframe>'


def page(name: str, base: str = "", book: str = "") -> str:
    """The page of a figure. base: public address of the folder, or nothing; book: title of the book."""
    figure = gallery(name)
    canonical = f'<link rel="canonical" href="{base}{name}.html">' if base else ""
    return PAGE.format(
        title=escape(figure.title), caption=escape(figure.caption), name=name, base=base, canonical=canonical,
        figure=figure.html(), page=FIGURES[name], book=escape(book),
    )


def list_html(base: str = "") -> str:
    """A picture, a link and the lines that embed it, of each figure; seen from book/."""
    rows = []
    for name in FIGURES:
        title, place = escape(gallery(name).title), f"../{FOLDER}/{name}"
        snippet = escape(SNIPPET.format(address=f"{base or '…/'}{name}.html", title=title))
        rows.append(
            f'<li><a href="{place}.html"><img src="{place}.webp" alt="" loading="lazy" width="320">{title}</a>'
            f"<details><summary>Embed it</summary><pre>{snippet}</pre></details></li>"
        )
    return f'<ul class="romae-alone">{"".join(rows)}</ul>'


def address(config) -> str:
    """Public address of the folder; nothing while the site has none."""
    url = config.html_baseurl
    return f"{url.rstrip('/')}/{FOLDER}/" if url and not url.endswith(".invalid/") else ""


def write(app, error):
    if error or app.builder.name != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for name in FIGURES:
        text = page(name, address(app.config), app.config.html_title)
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
        (folder / f"{name}.webp").write_bytes((STILLS / f"{name}.webp").read_bytes())


def setup(app):
    from romae_pages import Generated

    class FiguresAloneDirective(Generated):
        assets = ("pages.css",)

        def generate(self):
            return [nodes.raw("", list_html(address(self.env.config)), format="html")]

    app.add_directive("figures_alone", FiguresAloneDirective)
    app.connect("build-finished", write)

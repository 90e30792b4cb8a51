"""What a page says of itself, and the icons that are left of the theme's."""

import base64
import importlib
import io
import re
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="module")
def head():
    """When a test asks: with it comes the theme, and all that Sphinx brings."""
    return importlib.import_module("head")


PAGE = '<h1>Title</h1><p>Short.</p><p>A model &amp; its <b>times</b>: "what" they are worth on real data.</p>'


@pytest.fixture
def page(head):
    return lambda body, base="": described(head, body, base)


def described(head, body: str, base: str) -> tuple[str, list]:
    app = SimpleNamespace(config=SimpleNamespace(html_title="The book", html_baseurl=base))
    context = {"body": body, "title": "05 · Spirals", "script_files": ["mathjax/tex-chtml.js", "romae.js"]}
    head.describe(app, "notebooks/05_spirals", "page.html", context, None)
    return context["metatags"], context["script_files"]


def test_a_page_says_its_first_sentence_and_shows_its_first_picture(page):
    tags, scripts = page(PAGE + '<img src="../_later/0123.webp">')
    assert '<meta name="description" content="A model &amp; its times: &quot;what&quot; they are worth' in tags
    assert 'property="og:image" content="../_later/0123.webp"' in tags and scripts == ["romae.js"]
    tags, scripts = page(PAGE + r"<p>\(x\)</p>", base="https://owner.github.io/book/")
    assert 'content="https://owner.github.io/book/_static/site.png"' in tags and len(scripts) == 2
    long = re.search('name="description" content="([^"]*)"', page("<p>" + "word " * 100 + "</p>")[0])[1]
    assert len(long) < 210 and long.endswith("word …")


def test_icons_that_are_used_stay_and_others_go(head, tmp_path):
    from fontTools.ttLib import TTFont

    (tmp_path / "_static" / "styles").mkdir(parents=True)
    (tmp_path / "index.html").write_text('<i class="fa-solid fa-list"></i>')
    head.subset_icons(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html")), None)
    style, whole = ((place / head.STYLE).read_text() for place in (tmp_path / "_static", head.THEME))
    assert ".fa-list:before" in style and ".fa-anchor:before" in whole and ".fa-anchor:before" not in style
    assert "url(../vendor/fontawesome" not in style and len(head.FACE.findall(style)) == 1
    content = base64.b64decode(re.search(r"data:font/woff;base64,([^)]+)", style)[1])
    glyphs = TTFont(io.BytesIO(content)).getBestCmap()
    assert 0xF03A in glyphs and 0xF13D not in glyphs and len(content) < 12_000  # list, anchor
    for code in re.findall(r'--pst-icon-[\w-]+:"([^"]+)"', style):  # of notes and links
        assert ord(code) in glyphs or code in "\uf09b\uf296"  # the brands' are in another font, and no page has them

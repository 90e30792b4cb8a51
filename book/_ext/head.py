"""What a page says of itself to whoever is sent its link, and what of the theme a browser need not fetch.

The theme brings 1.5 MB of script and three fonts for some twenty icons. Here the script is left out (by the template in
`templates/static/`), and its style sheet gets a font of those icons alone, inside it.
"""

import base64
import io
import re
from html import escape, unescape
from pathlib import Path, PurePosixPath

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
STYLE = "styles/pydata-sphinx-theme.css"
FACE = re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}")
ICON = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"([^"]+)"\}')
LONGEST = 200  # characters of a description
FONTS = ("inter-latin-wght-normal", "source-serif-4-latin-wght-normal")  # of what is seen first


def describe(app, pagename, templatename, context, doctree):
    """Description and picture of a page: its first sentence, its first picture."""
    body = context.get("body") or ""
    paragraphs = (unescape(re.sub(r"<[^>]+>", "", p)).strip() for p in re.findall(r"<p>(.*?)</p>", body, re.S))
    words = " ".join(next((p for p in paragraphs if len(p) > 40), app.config.html_title).split())
    if len(words) > LONGEST:
        words = words[:LONGEST].rsplit(" ", 1)[0] + " …"
    picture = re.search(r'src="(?:\.\./)*(_later/\w+\.(?:webp|png))"', body)
    place = picture[1] if picture else "_static/site.png"
    up = "../" * (len(PurePosixPath(pagename).parts) - 1)
    says = {
        "og:title": unescape(re.sub(r"<[^>]+>", "", context.get("title") or app.config.html_title)),
        "og:description": words, "og:image": (app.config.html_baseurl or up) + place, "og:type": "article",
        "og:site_name": app.config.html_title,
    }
    tags = [f'<meta name="description" content="{escape(words)}">']
    tags += [f'<meta property="{name}" content="{escape(value)}">' for name, value in says.items()]
    tags += ['<meta name="twitter:card" content="summary_large_image">']
    font = f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{up}_static/vendor/fonts/{{}}.woff2">'
    tags += map(font.format, FONTS)
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)
    if "\\(" not in body and "\\[" not in body:  # Jupyter Book would load MathJax everywhere
        context["script_files"][:] = [s for s in context["script_files"] if "mathjax" not in str(s).lower()]


def subset_icons(app, error):
    """The theme's style sheet with the icons that the pages use, as a font inside it."""
    out = Path(app.outdir)
    if error or app.builder.name != "html":
        return
    used = {name for page in out.rglob("*.html") for name in re.findall(r"\bfa-[\w-]+", page.read_text("utf-8"))}
    style = (THEME / STYLE).read_text(encoding="utf-8")
    codes = set(re.findall(r'--pst-icon-[\w-]+:"([^"]+)"', style)) | {"\uf107"}  # and of sphinx-book-theme.css

    def keep(rule):
        names = [name for name in rule[1].split(",") if name.removesuffix(":before").lstrip(".") in used]
        if names:
            codes.add(rule[2])
        return ",".join(names) + f'{{content:"{rule[2]}"}}' if names else ""

    style = ICON.sub(keep, style)
    points = [int(code.removeprefix("\\"), 16) if code.startswith("\\") else ord(code) for code in codes]
    font = TTFont(THEME / "vendor/fontawesome/webfonts/fa-solid-900.ttf")
    cut = subset.Subsetter()
    cut.populate(unicodes=points)
    cut.subset(font)
    font.flavor, content = "woff", io.BytesIO()
    font.save(content)
    inside = base64.b64encode(content.getvalue()).decode()
    face = '@font-face{font-family:"Font Awesome 6 Free";font-weight:900;src:url(data:font/woff;base64,' + inside + ")}"
    (out / "_static" / STYLE).write_text(FACE.sub("", style) + face, encoding="utf-8")
    for name in ("vendor/fontawesome", "scripts/fontawesome.js"):
        for path in sorted((out / "_static" / name).rglob("*"), reverse=True) or [out / "_static" / name]:
            if path.is_file():
                path.unlink()


def setup(app):
    app.config.templates_path.append(str(Path(__file__).parent / "templates"))
    app.connect("html-page-context", describe, priority=950)
    app.connect("build-finished", subset_icons)

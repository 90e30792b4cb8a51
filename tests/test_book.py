"""The built website, as files: no warnings, nothing foreign, nothing heavy, no dead link."""

import base64
import csv
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pytest
import yaml
from address import UNSET, current, lead_to_the_repository, version
from PIL import Image

LOADING = {
    "script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src", "embed": "src",
    "object": "data", "input": "src",
}  # tags whose attribute makes the browser fetch something


class Page(HTMLParser):
    """What a page loads, where it links, and what can be linked to in it."""

    def __init__(self, text: str):
        super().__init__()
        self.loads, self.links, self.ids, self.headings, self.article = [], [], set(), [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        self.article += tag == "article"
        if tag in ("h1", "h2") and self.article:  # the theme has a second h1, for the printer
            self.headings.append(tag)
        if tag == "link" and not {"search", "next", "prev", "index", "canonical"} & set(values.get("rel", "").split()):
            self.loads.append(values.get("href") or "")
        if values.get(LOADING.get(tag, "")):
            self.loads.append(values[LOADING[tag]])
        self.loads += [part.split()[0] for part in (values.get("srcset") or "").split(",") if part.strip()]

    def handle_endtag(self, tag):
        self.article -= tag == "article"

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    paths = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


@pytest.fixture(scope="module")
def chapters(root, site) -> list[Path]:
    """The html page of every entry in the table of contents."""
    toc = yaml.safe_load((root / "book" / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    return [site / f"{name}.html" for name in names]


@pytest.mark.slow
def test_the_book_builds_without_a_warning(built):
    folder, result = built
    assert result.returncode == 0, result.stdout[-4000:]
    assert "WARNING" not in result.stdout


@pytest.mark.slow
@pytest.mark.weekly  # the check above looks for the word itself as well
def test_a_warning_fails_the_build(root, tmp_path):
    """The check above would be worth less if a broken reference passed."""
    (tmp_path / "_config.yml").write_text(
        (root / "_config.yml")
        .read_text()
        .replace("book/_static", ".")
        .replace("local_extensions: {romae_pages: book/_ext}", "")
        .replace("https://address-not-set.invalid", "https://github.com/owner/name")
    )
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text("# Title\n\n## Section\n\n{ref}`nowhere`\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "references.bib").write_text("")
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-W", "--keep-going", "-q"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "undefined label: 'nowhere'" in done.stdout + done.stderr


def test_every_entry_of_the_contents_is_a_page(chapters):
    assert len(chapters) >= 8
    assert [p for p in chapters if not p.exists()] == []


def test_every_page_has_one_title_and_a_section(chapters, pages):
    for path in chapters:
        assert pages[path].headings.count("h1") == 1, path
        assert "h2" in pages[path].headings, path  # without one, the theme's margin code fails


def test_pages_load_only_their_own_files(site, pages):
    for path, page in pages.items():
        for target in page.loads:
            if target.startswith("data:"):
                continue
            parts = urlsplit(target)
            assert not parts.scheme and not parts.netloc, f"{path.relative_to(site)} loads {target}"
            assert (path.parent / unquote(parts.path)).resolve().is_file(), f"{path.relative_to(site)}: no {target}"


def test_scripts_and_styles_name_no_other_host(site):
    """url(…) and import in our own css, and addresses in inline scripts, would be fetched as well."""
    for path in site.rglob("*.css"):
        for target in re.findall(r"url\(\s*['\"]?(.*?)['\"]?\s*\)|@import\s+['\"](.*?)['\"]", path.read_text("utf-8")):
            assert not re.match(r"(https?:)?//", target[0] or target[1]), f"{path.relative_to(site)}: {target}"
    for path in site.rglob("*.html"):
        for script in re.findall(r"<script[^>]*>(.*?)</script>", path.read_text("utf-8"), re.S):
            for host in re.findall(r"https?://[^\s\"'`<>)]+", script):
                assert host.startswith("http://www.w3.org/"), f"{path.relative_to(site)}: {host}"  # svg's name space


def test_internal_links_resolve(site, pages):
    for path, page in pages.items():
        if path.name in ("genindex.html", "search.html"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.relative_to(site)} links to {link}"
            if parts.fragment and target in pages and target != path:
                assert unquote(parts.fragment) in pages[target].ids, f"{path.relative_to(site)} links to {link}"


def test_all_results_are_one_table_beside_the_pages(root, site):
    with (site / "results.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["record"] for row in rows} == {
        path.relative_to(root / "results").as_posix() for path in (root / "results").glob("*/*.json")
    }
    described = json.loads((site / "results.schema.json").read_text(encoding="utf-8"))["fields"]
    assert [field["name"] for field in described] == list(rows[0])
    board = (site / "book" / "scoreboard.html").read_text(encoding="utf-8")
    assert 'href="../results.csv"' in board and 'href="../results.schema.json"' in board


def test_no_page_is_heavy(site, chapters):
    """700 kB of HTML before anything can be read; figures come when they are seen (book/_ext/lighter.py)."""
    for path in chapters:
        assert path.stat().st_size < 700_000, f"{path.relative_to(site)}: {path.stat().st_size / 1e3:.0f} kB"


def test_what_comes_later_is_there_and_whole(site):
    """Every figure of a notebook is on its page or in the files that the page names; all scripts fit their figures."""
    text = (site / "notebooks" / "05_spirals.html").read_text(encoding="utf-8")
    later = re.findall(r'data-later="\.\./(_later/[0-9a-f]{16}\.js)"', text)
    assert later and all((site / name).is_file() for name in later)
    key, name = re.search(r'class="romae-explorable (romae-\w+)" data-later="\.\./([^"]+)"', text).groups()
    assert f'kit.mount("{key}", explorable' in (site / name).read_text(encoding="utf-8")
    assert "<noscript>" in text and not re.search(r'src="data:image/[^"]{4000}', text)


def test_large_parts_move_and_small_ones_stay(tmp_path):
    from lighter import LARGE, lighter

    drawing = (
        '<figure class="romae-figure"><svg style="width:9px" viewBox="0 0 9 9">{}</svg>'
        '<img alt="a" src="data:image/png;base64,{}"></figure>'
    )
    figure = (
        '<style>x{{}}</style><figure class="romae-explorable romae-1a" data-explorable="n"></figure>'
        '<script>(() => {{"use strict";{}kit.mount("romae-1a", 0);}})();</script>'
    )
    small = drawing.format("<g/>", "QUJD") + figure.format("")
    assert lighter(small, "notebooks/x", tmp_path) == small and not list(tmp_path.iterdir())
    noise = np.random.default_rng(0).integers(0, 256, (90, 120), np.uint8)  # nothing that a PNG could make smaller
    Image.fromarray(noise).save(png := io.BytesIO(), "png")
    inside, picture = "<g></g>" * LARGE, base64.b64encode(png.getvalue()).decode()
    page = lighter(drawing.format(inside, picture) + figure.format("1;" * LARGE) * 2, "notebooks/x", tmp_path)
    assert len(page) < 2000 and page.count("<style>x{}</style>") == 1 and page.count("data-later") == 5
    kept = {path.suffix: path.read_bytes() for path in sorted((tmp_path / "_later").iterdir()) if path.suffix != ".js"}
    assert kept == {".png": png.getvalue()} and 'loading="lazy" width="120" height="90"' in page
    scripts = [path.read_text() for path in (tmp_path / "_later").glob("*.js")]
    assert sorted('kit.mount("romae-1a", 0)' in text for text in scripts) == [False, True]
    assert any(json.dumps(inside) in text for text in scripts)
    assert all(
        (tmp_path / "notebooks" / name).resolve().is_file()
        for name in re.findall(r'(?:src|data-later)="([^"]+)"', page)
    )


def test_no_path_of_the_building_machine(root, site, pages):
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert str(root) not in text, path.relative_to(site)
        assert not re.search(r"[\"'\s(](/(home|root|Users|tmp)/|C:\\\\Users)", text), path.relative_to(site)


def test_chapters_offer_colab_once_there_is_an_address(site, pages):
    """That of this version; and no page leads to an address that is not set."""
    offers = {path.relative_to(site).as_posix(): [k for k in page.links if "colab.research.google.com/github" in k]
              for path, page in pages.items()}
    if current() == UNSET:
        assert not any(offers.values())
        assert not [path for path, page in pages.items() if any(UNSET in link for link in page.links)]
    else:
        slug = current().removeprefix("https://github.com/")
        wanted = f"https://colab.research.google.com/github/{slug}/blob/v{version()}/notebooks/05_spirals.ipynb"
        assert wanted in offers["notebooks/05_spirals.html"] and not offers["book/deviations.html"]


@pytest.mark.parametrize("url", [UNSET, "https://github.com/someone/book"])
def test_buttons_lead_to_the_version_of_the_page_or_are_not_there(monkeypatch, url):
    monkeypatch.setattr("address.current", lambda: url)
    given = {"repository_url": url, "use_repository_button": True, "launch_buttons": {"colab_url": "x"}}
    config = SimpleNamespace(html_theme_options=dict(given), html_baseurl="")
    lead_to_the_repository(None, config)
    options = config.html_theme_options
    if url == UNSET:
        assert not options["use_repository_button"] and not options["launch_buttons"]
        assert "repository_url" not in options and not config.html_baseurl
    else:
        assert options == given | {"repository_branch": f"v{version()}"}
        assert config.html_baseurl == "https://someone.github.io/book/"


def test_every_deviation_has_an_anchor(root, pages, site):
    text = (root / "book" / "deviations.md").read_text(encoding="utf-8")
    assert {f"d{n}" for n in re.findall(r"^### D(\d+) · ", text, re.M)} <= pages[site / "book" / "deviations.html"].ids


def test_deviation_ids_cited_anywhere_exist(root):
    known = set(re.findall(r"^### (D\d+) · ", (root / "book" / "deviations.md").read_text(encoding="utf-8"), re.M))
    files = [*root.glob("romae_lite/**/*.py"), *root.glob("notebooks/*.ipynb"), *root.glob("book/*.md")]
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":  # not the pictures among its outputs, where any letters may stand
            text = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
        cited = set(re.findall(r"\bD\d{1,2}\b(?!\.\d)", text))
        assert cited <= known, f"{path.relative_to(root)} cites {sorted(cited - known)}"


def test_a_changed_record_is_noticed(root, tmp_path, monkeypatch):
    import romae_pages

    (tmp_path / "results" / "spirals").mkdir(parents=True)
    monkeypatch.setattr(romae_pages, "ROOT", tmp_path)
    empty = romae_pages.fingerprint()
    record = tmp_path / "results" / "spirals" / "paper-s0.json"
    record.write_text("{}")
    first = romae_pages.fingerprint()
    record.write_text('{"a": 1}')
    assert len({empty, first, romae_pages.fingerprint()}) == 3


def test_a_changed_style_is_noticed(tmp_path, monkeypatch):
    import romae_pages

    (tmp_path / "book" / "_static").mkdir(parents=True)
    monkeypatch.setattr(romae_pages, "ROOT", tmp_path)
    empty = romae_pages.fingerprint()
    (tmp_path / "book" / "_static" / "romae.css").write_text("p { margin: 0 }")
    assert romae_pages.fingerprint() != empty


DOCSTRING = """Open a file, or *two*.

Parameters
----------
times : array of shape (N, *sizes)
    Any order; gaps are `NaN`, at fit_.
**more
    The rest.

Returns
-------
list of str

Examples
--------
>>> 1 + 1
2"""


def test_docstrings_become_lists_in_which_a_star_is_a_star():
    from docstrings import rst
    from docutils.core import publish_doctree

    tree = publish_doctree("\n".join(rst(DOCSTRING.splitlines())), settings_overrides={"report_level": 2})
    text = tree.astext()
    for part in ("Open a file, or *two*.", "array of shape (N, *sizes)", "gaps are NaN, at fit_.", ">>> 1 + 1"):
        assert part in text
    assert [node.astext() for node in tree.findall() if node.tagname == "literal"] == ["NaN"]
    assert "**more" in text and "-----" not in text


def test_the_package_page_explains_what_is_ours(site):
    page = (site / "book" / "api.html").read_text(encoding="utf-8")
    assert 'id="romae_lite.series.interpolator.Interpolator.predict"' in page
    assert "metadata" not in page and "overridden by all subclasses" not in page


def test_no_page_shows_an_object_in_place_of_what_it_displays(site):
    for page in site.rglob("*.html"):
        assert "&lt;IPython.core" not in page.read_text(encoding="utf-8"), page.name

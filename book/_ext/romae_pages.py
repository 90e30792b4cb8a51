"""What this book adds to Sphinx.

    {explorable} count_or_time         an interactive figure, built from the committed records
    {results}                          every claim of the paper with a picture and a verdict, from the records
    {found}                            what the book found: a sentence and a picture each; with ids, these alone, brief
    {claims} reproduced                the claims that came out so, as a list; several words are joined by hyphens
    {model_card} filler                the card of a model that `load` knows, from the record of its run
    {paper}`cell`, {ours}`cell`, {own}`cell`                      in a sentence: a number of the paper, by its id
    {verdict}`claim`, {verdicts}`claims`                          in a sentence: of one claim, and how all came out
    {recorded}`spirals best rmse_clean`                           in a sentence: any other metric of a setting
    {lab_record} spirals               settings, runs and what is missing of one experiment; body: what was dropped
    {deviations}                       the entries of the page that it stands on, as one table
    {who_wins} gaps                    also: classes; who fills gaps, who names classes, on real data
    {times}                            what classifiers and predictors lose without times
    {chapters}                         the chapters of book/chapters.yml, each with the picture of its first figure
    {api}                              the names of the front door, from their docstrings

A page that uses one of them is read again when the package, a record or a notebook has changed.
"""

import hashlib
import sys
from pathlib import Path

from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # the book is built from the checkout, installed or not
    sys.path.insert(0, str(ROOT))


def fingerprint() -> str:
    """Changes when a record, the package or a notebook does; or a script or style of the site, since Sphinx copies none
    where it finds no page to write."""
    folders = (
        "results/**/*",
        "romae_lite/**/*",
        "romae_book/**/*",
        "notebooks/*.ipynb",
        "book/_ext/**/*",
        "book/_static/**/*",
    )
    files = sorted(f for folder in folders for f in ROOT.glob(folder) if f.is_file() and f.suffix != ".pyc")
    stat = [(f.relative_to(ROOT).as_posix(), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(repr(stat).encode()).hexdigest()


class Generated(SphinxDirective):
    """A directive whose content depends on the package or the records. assets: files of _static that its page loads."""

    assets = ()

    def run(self):
        about = self.env.metadata[self.env.docname]
        about["romae_generated"] = "yes"
        about["romae_assets"] = " ".join(dict.fromkeys((*about.get("romae_assets", "").split(), *self.assets)))
        try:
            return self.generate()
        except Exception as error:
            raise SphinxError(f"{self.get_location()}: {{{self.name}}} failed: {error}") from error


class ExplorableDirective(Generated):
    required_arguments = 1

    def generate(self):
        from romae_book.explorables.gallery import gallery

        return [nodes.raw("", gallery(self.arguments[0]).html(), format="html")]


class ResultsDirective(Generated):
    assets = ("pages.css", "results.js")

    def generate(self):
        from pages.results import results_html

        return [nodes.raw("", results_html(), format="html")]


class FoundDirective(Generated):
    optional_arguments = 100
    assets = ("pages.css",)

    def generate(self):
        from pages.results import found_html

        return [nodes.raw("", found_html(ids=self.arguments), format="html")]


class MarkdownDirective(Generated):
    """Puts Markdown that is made from the records into the page."""

    optional_arguments = 100

    def generate(self):
        container = nodes.container(classes=[f"romae-{self.name.replace('_', '-')}"])
        self.state.nested_parse(self.markdown().splitlines(), self.content_offset, container)
        return [container]


class ClaimsDirective(MarkdownDirective):
    def markdown(self):
        from pages.prose import claims_markdown

        return claims_markdown([word.replace("-", " ") for word in self.arguments])


class ModelCardDirective(MarkdownDirective):
    def markdown(self):
        from romae_lite.zoo import card

        return card(self.arguments[0]).split("\n", 2)[2]  # the page has a heading of its own


LIBRARIES = "Module, BaseEstimator, tuple, object"  # classes whose members are not shown


class ApiDirective(MarkdownDirective):
    """The names of the front door, module by module, by autodoc."""

    def markdown(self):
        import romae_lite

        lines = []
        for home, names in romae_lite._HOMES.items():
            lines += [f"**{home}**", ""]
            for name in names:
                value = getattr(romae_lite, name)
                kind = "class" if isinstance(value, type) else "function" if callable(value) else "data"
                # what a class of ours inherits from one of ours is its own; what it has from a library, the library's
                members = ["   :members:", f"   :inherited-members: {LIBRARIES}"] * (kind == "class")
                where = f"{value.__module__}.{name}" if kind != "data" else f"romae_lite.{name}"
                lines += ["```{eval-rst}", f".. auto{kind}:: {where}", *members, "```", ""]
        return "\n".join(lines)


def number_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """A number or a word from the records: `pages.prose` has a function of the role's name."""
    from pages import prose

    inliner.document.settings.env.metadata[inliner.document.settings.env.docname]["romae_generated"] = "yes"
    try:
        return [nodes.Text(getattr(prose, name)(text))], []
    except Exception as error:
        raise SphinxError(f"line {lineno}: {{{name}}}`{text}` failed: {error}") from error


class LabRecordDirective(Generated):
    required_arguments = 1
    has_content = True
    assets = ("pages.css",)

    def generate(self):
        from pages.deviations import DEVIATIONS
        from pages.lab_record import lab_record

        self.env.note_dependency(str(DEVIATIONS))
        found = []
        for part in lab_record(self.arguments[0], "\n".join(self.content)):
            section = nodes.section(ids=[part.id], names=[part.id])
            section += nodes.title("", part.title)
            if part.markdown:
                self.state.nested_parse(part.markdown.splitlines(), self.content_offset, section)
            if part.html:
                section += nodes.raw("", part.html, format="html")
            found.append(section)
        return found


class DeviationsDirective(Generated):
    assets = ("pages.css", "deviations.js")

    def generate(self):
        from pages import deviations

        found = deviations.read(Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8"))
        cited = deviations.citing(ROOT.glob("notebooks/*.ipynb"))
        return [nodes.raw("", deviations.table_html(found, cited, "../notebooks/"), format="html")]


class TimesDirective(Generated):
    assets = ("pages.css",)

    def generate(self):
        from pages.times import times_html

        return [nodes.raw("", times_html(), format="html")]


class WhoWinsDirective(Generated):
    required_arguments = 1
    assets = ("pages.css",)

    def generate(self):
        from pages import gaps

        html = {"gaps": gaps.gaps_html, "classes": gaps.classes_html}[self.arguments[0]]()
        return [nodes.raw("", html, format="html")]


class ChaptersDirective(Generated):
    assets = ("pages.css",)

    def generate(self):
        from pages.chapters import chapters_html

        return [nodes.raw("", chapters_html(), format="html")]


def name_damaged_records(app):
    """Roles and figures leave out what is damaged; a warning names each file, and ends a build with -W."""
    from romae_book.lab.records import load_all

    for path, reason in load_all().problems:
        logging.getLogger(__name__).warning("%s/%s is not used: %s", path.parent.name, path.name, reason)


def results_as_csv(app, error):
    """All records as one table beside the pages, which link to it."""
    if error is None and app.builder.format == "html":
        from romae_book.cli.export import export

        export(Path(app.outdir) / "results.csv")


def outdated(app, env, added, changed, removed):
    now = fingerprint()
    if getattr(env, "romae_fingerprint", now) == now:
        env.romae_fingerprint = now
        return []
    env.romae_fingerprint = now
    return [doc for doc, meta in env.metadata.items() if meta.get("romae_generated")]


def drop_thebe(app, pagename, templatename, context, doctree):
    """sphinx-thebe names unpkg.com in a script on every page, and twice, even where it is switched off."""

    def thebe(script):
        inline = getattr(script, "attributes", {}).get("body") or ""
        return "THEBE_JS_URL" in inline or "sphinx-thebe" in str(getattr(script, "filename", "") or "")

    context["script_files"][:] = [s for s in context.get("script_files", []) if not thebe(s)]


def page_assets(app, pagename, templatename, context, doctree):
    """Style and script of a generated page, on that page alone."""
    for name in app.env.metadata.get(pagename, {}).get("romae_assets", "").split():
        if name.endswith(".css"):
            app.add_css_file(name)
        else:
            app.add_js_file(name, loading_method="defer")


def setup(app):
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("results", ResultsDirective)
    app.add_directive("found", FoundDirective)
    app.add_directive("lab_record", LabRecordDirective)
    app.add_directive("deviations", DeviationsDirective)
    app.add_directive("times", TimesDirective)
    app.add_directive("who_wins", WhoWinsDirective)
    app.add_directive("chapters", ChaptersDirective)
    app.add_directive("claims", ClaimsDirective)
    app.add_directive("model_card", ModelCardDirective)
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("api", ApiDirective)
    app.setup_extension("docstrings")
    for role in ("paper", "ours", "own", "verdict", "verdicts", "recorded", "difference"):
        app.add_role(role, number_role)
    app.setup_extension("address")
    app.setup_extension("redirects")
    app.setup_extension("lighter")
    app.setup_extension("head")
    app.setup_extension("standalone")
    app.connect("builder-inited", name_damaged_records)
    app.connect("env-get-outdated", outdated)
    app.connect("build-finished", results_as_csv)
    app.connect("html-page-context", page_assets)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

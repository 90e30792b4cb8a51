"""What this book adds to Sphinx.

    {explorable} spirals               an interactive figure, built from the committed records
    {scoreboard}                       every claim of the paper with ours beside it, from the records
    {chapters}                         the chapters of book/chapters.yml: those that are in the book are links
    {packagesource} romae_lite.rope.rotate   the source of a package object, with a link to the file
    {recorded}`spirals paper rmse_clean`     one aggregated number from the records

A page that uses one of them is read again when the package or a record has changed.
"""

import hashlib
import importlib
import inspect
import sys
import textwrap
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective, SphinxRole

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # the book is built from the checkout, installed or not
    sys.path.insert(0, str(ROOT))


def repository() -> tuple[str, str]:
    """The public address and branch, from _config.yml: the one place that states them."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return config["url"], config["branch"]


def fingerprint() -> str:
    """Changes when a record, the package or the list of chapters does."""
    files = [*ROOT.glob("results/**/*"), *ROOT.glob("romae_lite/**/*"), *ROOT.glob("notebooks/*.ipynb")]
    files = sorted(f for f in files if f.is_file() and f.suffix != ".pyc")
    stat = [(f.relative_to(ROOT).as_posix(), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(repr(stat).encode()).hexdigest()


class Generated(SphinxDirective):
    """A directive whose content depends on the package or the records."""

    def run(self):
        self.env.metadata[self.env.docname]["romae_generated"] = "yes"
        try:
            return self.generate()
        except Exception as error:
            raise SphinxError(f"{self.get_location()}: {{{self.name}}} failed: {error}") from error


class ExplorableDirective(Generated):
    required_arguments = 1

    def generate(self):
        from romae_lite.explorables import gallery

        return [nodes.raw("", gallery(self.arguments[0]).html(), format="html")]


class ScoreboardDirective(Generated):
    optional_arguments = 100  # names of experiments; none means all

    def generate(self):
        from romae_lite.report import scoreboard_html

        return [nodes.raw("", scoreboard_html(experiments=self.arguments or None), format="html")]


class ChaptersDirective(Generated):
    def generate(self):
        chapters = ROOT / "book" / "chapters.yml"
        self.env.note_dependency(str(chapters))
        toc = (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")
        lines = []
        for part in yaml.safe_load(chapters.read_text(encoding="utf-8")):
            lines += [f"**{part['part']}**", ""]
            for chapter in part["chapters"]:
                name = f"notebooks/{chapter['file']}"
                title = f"{chapter['file'][:2]} · {chapter['title']}"
                if f"file: {name}\n" in toc:
                    lines.append(f"- [{title}](/{name}): {chapter['play']}")
                else:
                    lines.append(f"- {title} *(planned)*: {chapter['play']}")
            lines.append("")
        container = nodes.container(classes=["romae-chapters"])
        self.state.nested_parse(lines, self.content_offset, container)
        return [container]


class PackageSourceDirective(Generated):
    required_arguments = 1

    def generate(self):
        module, _, name = self.arguments[0].rpartition(".")
        source, path, first, last = find_source(module, name)
        url, branch = repository()
        where = path.relative_to(ROOT).as_posix()
        self.env.note_dependency(str(path))
        code = nodes.literal_block(source, source, language="python")
        link = nodes.reference(
            "", f"{where}, lines {first} to {last}", refuri=f"{url}/blob/{branch}/{where}#L{first}-L{last}"
        )
        caption = nodes.paragraph("", "", link, classes=["romae-source"])
        return [nodes.container("", code, caption, classes=["romae-package-source"])]


def find_source(module: str, name: str) -> tuple[str, Path, int, int]:
    """Source text, file, first and last line of module.name (a class's method is module.Class.method)."""
    try:
        obj = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        outer, _, inner = module.rpartition(".")
        obj = getattr(getattr(importlib.import_module(outer), inner), name)
    lines, first = inspect.getsourcelines(inspect.unwrap(obj))
    source = textwrap.dedent("".join(lines)).rstrip()
    return source, Path(inspect.getsourcefile(obj)), first, first + len(lines) - 1


class RecordedRole(SphinxRole):
    """{recorded}`experiment preset metric`: mean, 95 % interval and number of seeds."""

    def run(self):
        from romae_lite.results import load_all, summarise

        self.env.metadata[self.env.docname]["romae_generated"] = "yes"
        experiment, preset, metric = self.text.split()
        records = [r for r in load_all(None, experiment).records if r.preset == preset and r.tier != "smoke"]
        values = [r.metrics[metric] for r in records if metric in r.metrics]
        if not values:
            return [nodes.emphasis("", "not recorded yet")], []
        s = summarise(values)
        interval = f" (95 % interval {s.low:.4f} to {s.high:.4f}, n = {s.n})" if s.low is not None else " (n = 1)"
        return [nodes.inline("", f"{s.mean:.4f}{interval}", classes=["romae-recorded"])], []


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


def setup(app):
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("scoreboard", ScoreboardDirective)
    app.add_directive("chapters", ChaptersDirective)
    app.add_directive("packagesource", PackageSourceDirective)
    app.add_role("recorded", RecordedRole())
    app.connect("env-get-outdated", outdated)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

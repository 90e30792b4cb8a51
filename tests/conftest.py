"""What the test files share: where the repository is, a made-up record, the built site, a browser."""

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from filelock import FileLock

# The experiments, in the order of the chapters: a list, as importing them all would cost every worker seconds. A test
# of the layout compares.
NAMES = [
    "waves", "sizes", "position", "position_range", "frequencies", "periods", "spirals", "synthetic", "mortality",
    "physionet", "pendulum", "uea", "elasticc", "folding", "lightcurves", "tiny_imagenet", "esc50", "speed", "priors",
]
ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("ROMAE_UNCOMMITTED", "1")  # what tests record is thrown away; they run before a commit too
sys.modules.setdefault("rfc3987_syntax", None)  # jsonschema's optional check of IRIs: importing it takes 3 s
gc.disable()  # until all tests are collected: nothing is thrown away meanwhile, and the search took a third of the time
CI = os.environ.get("CI", "").lower() == "true"


def made_up_record(
    experiment="spirals", preset="paper", seed=0, settings: dict | None = None, root: Path | None = None, **changes
):
    """A record that no run left: of a preset with some settings changed. Saved under ``root`` by its name, if given."""
    from romae_book.lab.planned import Planned  # here: not every test needs what this imports
    from romae_book.lab.records import Record

    planned = Planned(experiment=experiment, preset=preset, seed=seed, overrides=tuple((settings or {}).items()))
    fields = dict(
        experiment=experiment, preset=preset, seed=seed, tier=planned.tier, config=planned.build().config(),
        command=planned.command, history=[], parameters=10, device="cpu", precision="fp32", wall_seconds=1.5,
        peak_memory_mb=2.0, tokens_per_second=3.0, versions={"numpy": "2"}, commit="content:0", data_fingerprint="0",
        deviations=[], created="2026-01-31T12:00:00+00:00",
    )
    record = Record(**fields | changes)
    if root is not None:
        record.save(root / experiment / f"{planned.name}.json")
    return record


def pytest_itemcollected(item):
    if {"built", "browser"} & set(getattr(item, "fixturenames", ())):
        item.add_marker("book")


@pytest.hookimpl(trylast=True)  # when the others have ordered and deselected
def pytest_collection_modifyitems(config, items):
    """What takes long comes first: the slow tests, then those of the book, which find it built, then the rest.

    `--dist worksteal` first gives every worker an equal stretch of this list: each gets its share of the slow ones.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("slow")]
    rest = [item for item in items if not item.get_closest_marker("slow")]
    rest.sort(key=lambda item: not item.get_closest_marker("book"))
    bounds = [len(rest) * k // workers for k in range(workers + 1)]
    items[:] = [item for k in range(workers) for item in slow[k::workers] + rest[bounds[k] : bounds[k + 1]]]


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def data_script() -> Callable[[str], ModuleType]:
    """By name, a script of data_scripts/ as a module, imported as Python would run it: with its folder on the path."""

    def load(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT / "data_scripts")
            spec = importlib.util.spec_from_file_location(f"data_scripts_{name}", ROOT / "data_scripts" / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id) -> Path:
    """A folder of this run that all its workers know."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent


@pytest.fixture(scope="session")
def built(shared) -> tuple[Path, subprocess.CompletedProcess]:
    """The site built as `make book` builds it, once for all workers: its folder, and how the build ended."""
    out, log, status = shared / "site", shared / "build.log", shared / "build.status"
    with FileLock(shared / "build.lock"):
        if not status.exists():
            jupyter_book = Path(sys.executable).with_name("jupyter-book")
            build = [jupyter_book, "build", ".", "--toc", "book/_toc.yml", "-W", "--keep-going", "--quiet"]
            command = [*build, "--path-output", out]
            done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            log.write_text(done.stdout)
            status.write_text(str(done.returncode))
    result = subprocess.CompletedProcess([], int(status.read_text()), stdout=log.read_text())
    return out / "_build" / "html", result


@pytest.fixture(scope="session")
def site(built) -> Path:
    folder, result = built
    assert (folder / "index.html").exists(), f"the book was not built:\n{result.stdout[-3000:]}"
    return folder


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium. Missing: the test is skipped, except in CI, where it fails."""
    from browser import chromium, find_chromium

    if not find_chromium():
        message = "no Chromium here: install one (apt-get install chromium) or set CHROMIUM to its path"
        pytest.fail(message) if CI else pytest.skip(message)
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def screenshots(shared) -> Path:
    """Where browser tests that fail leave their pictures: _build/screenshots, emptied once for all workers."""
    folder, emptied = ROOT / "_build" / "screenshots", shared / "screenshots.emptied"
    with FileLock(shared / "screenshots.lock"):
        if not emptied.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            emptied.touch()
    return folder


@pytest.fixture
def visit(browser, tmp_path):
    """visit(html, ...) -> page. At the end the page must have asked for nothing else and have reported no error."""
    from figures import GROUNDS

    contexts, problems = [], []

    def go(body: str, scheme: str = "light", host: str = "", width: int = 900, expect_errors: bool = False, **options):
        ground, text = GROUNDS[scheme]
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(
            f'<!doctype html><html {host or f"data-theme={scheme}"}><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<style>html{{background:{ground};color:{text}}}body{{font-family:sans-serif}}</style><body>{body}",
            encoding="utf-8",
        )
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or problems.append(request.url))
        if not expect_errors:
            page.on("console", lambda said: said.type in ("error", "warning") and problems.append(said.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert not problems

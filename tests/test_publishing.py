"""What is published: wheel and sdist, the release, its papers, what GitHub and Zenodo read, the docstrings."""

import doctest
import importlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest
import yaml
from address import current, text_files
from conftest import ROOT

import romae_lite

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(set((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) - {ROOT / ".github/ISSUE_TEMPLATE/config.yml"})


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Wheel and sdist, built from a copy of what git knows, so that nothing is left in the checkout."""
    copy = tmp_path_factory.mktemp("copy")
    wanted = ("romae_lite", "pyproject.toml", "README.md", "LICENSE")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *wanted]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    (wheel,), (sdist,) = (copy / "dist").glob("*.whl"), (copy / "dist").glob("*.tar.gz")
    return copy, wheel, sdist


@pytest.mark.slow
def test_wheel_and_sdist_hold_every_file_of_the_package(dist):
    copy, wheel, sdist = dist
    files = {
        p.relative_to(copy).as_posix()
        for p in (copy / "romae_lite").rglob("*")
        if p.is_file() and p.suffix not in (".pyc", ".toml")  # the linter's settings stay at home
    }
    assert {"romae_lite/models/filler.safetensors", "romae_lite/models/filler.md"} <= files
    with zipfile.ZipFile(wheel) as archive:
        assert files - set(archive.namelist()) == set()
        assert {name.split("/")[0].split("-")[0] for name in archive.namelist()} == {"romae_lite"}  # and no book
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert files - inside == set() and {"pyproject.toml", "README.md", "LICENSE"} <= inside
    assert wheel.stat().st_size < 5_000_000


@pytest.mark.slow
def test_an_editable_install_finds_both_packages(dist, tmp_path):
    """It puts the checkout on the path, where setuptools would otherwise map the packages of the wheel alone."""
    code = f"from setuptools.build_meta import build_editable; build_editable({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=dist[0], check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(".pth")]
        assert archive.read(path).decode().strip() == str(dist[0])


@pytest.mark.slow
def test_the_wheel_alone_fills_a_series(dist, tmp_path):
    """Unpacked, without the checkout on the path."""
    with zipfile.ZipFile(dist[1]) as archive:
        archive.extractall(tmp_path)
    code = (
        "import romae_lite; mean, deviation = romae_lite.fill([1.0, 2, 4, 8], [3.0, 4, 3, 5], [3.0]);"
        "print(romae_lite.__file__); print(float(mean[0]), float(deviation[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "PATH": ""},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1500:]
    where, mean, deviation = done.stdout.split()
    assert where.startswith(str(tmp_path)) and 2 < float(mean) < 5 and float(deviation) > 0
    # An environment that the checkout is installed in finds the book's package: here it must not.
    code = (
        "import runpy, sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'romae_book': raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "runpy.run_module('romae_lite', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code, "list"], cwd=tmp_path,
                          env={"PYTHONPATH": str(tmp_path), "PATH": ""}, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "clone of the repository" in done.stderr


def test_one_version_and_a_change_log_of_it(project):
    assert romae_lite.__version__ == project["version"]
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == project["version"] and len(headings) == len(set(headings))


def test_zenodo_and_citation_say_the_same(project):
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert zenodo["title"] == citation["title"] and zenodo["license"] == citation["license"] == project["license"]
    assert [c["name"] for c in zenodo["creators"]] == [a["name"] for a in citation["authors"]]
    related = {r["identifier"] for r in zenodo["related_identifiers"]}
    papers = {i["value"] for reference in citation["references"] for i in reference["identifiers"]}
    assert related == papers | {citation["repository-code"]} and citation["repository-code"].endswith(current(ROOT))


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.github-issue-forms", FORMS),
        ("vendor.github-issue-config", [ROOT / ".github/ISSUE_TEMPLATE/config.yml"]),
        ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_for_github_have_its_form(schema, files):
    import check_jsonschema  # here: what these bring along takes its time
    from click.testing import CliRunner

    assert files
    done = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, *map(str, files)])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_what_workflows_run_is_there(path):
    """Targets of make, scripts, files: a schema knows nothing of them."""
    text = path.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z-]+)|\.ci/run ([a-z-]+)", text):
        assert re.search(rf"^(.* )?{''.join(target)}( .*)?:", makefile, re.M), target
    for job in yaml.safe_load(text)["jobs"].values():
        assert job["timeout-minutes"], "a job that hangs is paid for"
        for step in job["steps"]:
            if "run" in step and "${{" not in step["run"]:
                done = subprocess.run(["bash", "-n", "-c", step["run"]], capture_output=True, text=True)
                assert done.returncode == 0, done.stderr


def jobs(path) -> dict[str, dict]:
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: {"permissions": flow["permissions"]} | job for name, job in flow["jobs"].items()}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_jobs_have_no_more_rights_than_they_need(path):
    """Actions are pinned, code of the repository runs where nothing may be written, and no token lies about."""
    for used in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", used), used
    for name, job in jobs(path).items():
        used = [step["uses"].split("@")[0] for step in job["steps"] if "uses" in step]
        if "write" in job["permissions"].values():
            assert set(used) <= {"actions/download-artifact", "actions/deploy-pages"}, name
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)


STEPS = ("make address", ".ci/run test", "build", "cards dist", "make book")


def test_a_release_is_made_of_a_tag_after_all_checks():
    path = ROOT / ".github" / "workflows" / "release.yml"
    triggers = yaml.safe_load(path.read_text(encoding="utf-8"))[True]  # YAML 1.1 reads "on" so
    assert triggers == {"push": {"tags": ["v*"]}}
    build, release = jobs(path).values()
    runs = [step.get("run", "") for step in build["steps"]]
    order = [next(i for i, run in enumerate(runs) if word in run) for word in STEPS]
    assert order == sorted(order)
    assert release["needs"] == "build" and "gh release" in release["steps"][-1]["run"]


EXAMPLES = [
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for path, text in text_files(ROOT)
    if path.suffix == ".py" and path.is_relative_to(ROOT / "romae_lite") and ">>> " in text
]


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_print_what_they_say(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed


@pytest.mark.book
def test_every_name_of_the_front_door_is_on_the_page_of_the_package(site):
    text = (site / "book" / "api.html").read_text(encoding="utf-8")
    for name in (*romae_lite.__all__, "Interpolator.save", "Interpolator.load", "Classifier.save", "Classifier.load"):
        assert re.search(rf'id="romae_lite[\w.]*\.{name}"', text), name

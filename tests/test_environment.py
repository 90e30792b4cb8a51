"""What is installed: pyproject.toml against constraints.txt, conda's file and Colab; a public address, or none."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from address import UNSET, change, current, text_files, version
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

# Colab's GPU runtime of August 2026 (googlecolab/backend-info): what a reader's `pip install` finds there.
COLAB_PYTHON = "3.13.15"
COLAB = {
    "torch": "2.11.0", "numpy": "2.1.3", "scipy": "1.16.3", "matplotlib": "3.10.0", "pandas": "2.2.3", "tqdm": "4.67.3",
    "ipywidgets": "7.7.1", "ipython": "7.34.0", "ipykernel": "6.17.1", "einops": "0.8.2", "scikit-learn": "1.6.1",
    "pytest": "8.4.2",
}


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def requirements(project) -> list[Requirement]:
    """The library's and those of all extras, without the extras that name one another."""
    extras = project["optional-dependencies"]
    every = [Requirement(text) for text in [*project["dependencies"], *sum(extras.values(), [])]]
    for own in (r for r in every if r.name == project["name"]):
        assert own.extras <= set(extras)
    return [r for r in every if r.name != project["name"]]


@pytest.fixture(scope="module")
def constraints() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pins}


def test_every_requirement_stands_once_and_is_pinned_within_its_bounds(requirements, constraints):
    names = [canonicalize_name(r.name) for r in requirements]
    assert len(names) == len(set(names))
    for name, requirement in zip(names, requirements, strict=True):
        assert requirement.specifier.contains(constraints[name]), f"{requirement} against {constraints[name]}"


def test_conda_leaves_the_requirements_to_pip(project):
    python, pip, from_pip = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert (python, pip) == ("python" + project["requires-python"], "pip")
    (editable,) = from_pip["pip"]
    folder, extras = re.fullmatch(r"--editable (.*)\[(.*)\]", editable).groups()
    assert folder == "." and set(extras.split(",")) <= set(project["optional-dependencies"])


def test_constraints_are_portable():
    """No build of one platform (torch 2.x+cpu), no local path, no index."""
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line), line


def reachable(names: list[str]) -> dict[str, str]:
    """Installed distributions that the given requirements pull in, with their versions."""
    found, todo = {}, [Requirement(n) for n in names]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        key = (name, *sorted(requirement.extras))
        if key in found:
            continue
        distribution = importlib.metadata.distribution(name)
        found[key] = distribution.version
        for text in distribution.requires or []:
            inner = Requirement(text)
            marker = inner.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in (*requirement.extras, "")):
                todo.append(inner)
    return {key[0]: version for key, version in found.items()}


def test_nothing_is_installed_unpinned(requirements, constraints):
    """All that `make` installs, directly or not, is in constraints.txt (torch pins its own CUDA packages)."""
    if not sys.prefix.startswith(str(ROOT)):
        pytest.skip("this environment was not made by `make`")
    for name, found in reachable(list(map(str, requirements))).items():
        if name in {"setuptools", "pip", "wheel", "triton"} or name.startswith(("nvidia-", "cuda-")):
            continue
        assert name in constraints, f"{name} {found} is installed, and not in constraints.txt"
        assert Version(found).public == str(constraints[name]), f"{name} {found}"


def test_installing_on_colab_replaces_nothing(project):
    """Every floor, ours and those of the packages that Colab may lack, admits Colab's versions."""
    assert Requirement("python" + project["requires-python"]).specifier.contains(COLAB_PYTHON)
    wanted = [Requirement(t) for t in [*project["dependencies"], *project["optional-dependencies"]["chapters"]]]
    assert {r.name for r in wanted if r.name in COLAB} >= {"torch", "numpy", "scipy", "matplotlib"}
    for r in wanted:
        if r.name in COLAB:
            assert r.specifier.contains(COLAB[r.name]), f"{r} would replace Colab's {COLAB[r.name]}"
            continue
        for text in importlib.metadata.requires(r.name) or []:
            inner = Requirement(text)
            if inner.name in COLAB and (inner.marker is None or inner.marker.evaluate({"extra": ""})):
                assert inner.specifier.contains(COLAB[inner.name]), f"{r.name} needs {inner}"


@pytest.mark.slow
def test_training_needs_neither_jupyter_nor_matplotlib(tmp_path):
    """A bare GPU machine has torch, numpy, scipy, accelerate and safetensors; `run` must do with that."""
    absent = set("matplotlib PIL IPython ipykernel ipywidgets jupyter_core nbformat tqdm pandas yaml sklearn aeon h5py "
                 "astropy pyarrow pooch lightgbm soundfile".split())
    code = f"""
import builtins, runpy, sys
real = builtins.__import__

def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    caller = (globals or {{}}).get("__name__", "")
    if not level and caller.startswith("romae_") and name.split(".")[0] in {absent!r}:
        raise ImportError(f"{{caller}} imports {{name}}")
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = guarded
small = "--set epochs=1 --set encoder=12x2x1x24 --set decoder=12x2x1x24 --set n_test=100"
for words in (f"run spirals --preset quick {{small}}", "report spirals"):
    sys.argv = ["romae_lite", *words.split()]
    try:
        runpy.run_module("romae_lite", run_name="__main__")
    except SystemExit as ended:
        assert not ended.code
"""
    environment = dict(os.environ, ROMAE_RESULTS=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(tmp_path.glob("spirals/*.json"))


# -- the public address --------------------------------------------------------------------------------------

GITHUB = re.compile(
    r"(github\.com/(?:repos/)?|colab\.research\.google\.com/github/)([A-Za-z0-9-]+/[A-Za-z0-9._-]*[A-Za-z0-9_-])"
)
OTHERS = {
    "Chromeilion/RoMAE", "Chromeilion/RoMAE-Experiments", "alercebroker/ATAT", "karolpiczak/ESC-50",
    "boschresearch/Continuous-Recurrent-Units", "microsoft/SeqML", "reml-lab/hetvae", "rsms/inter",
    "JetBrains/JetBrainsMono", "googlecolab/backend-info", "owner/name",
}
NAMED = {
    ".github/ISSUE_TEMPLATE/config.yml", ".zenodo.json", "CITATION.cff", "_config.yml", "book/how_to_run.md",
    "pyproject.toml",
}


def test_every_mention_of_the_repository_is_the_one_in_config():
    """And one that nobody set names no place that somebody else may come to own."""
    where, suffixes = {}, {".md", ".ipynb", ".toml", ".yml", ".cff", ".py", ".js", ".json"}
    for path, text in text_files(ROOT):
        if path.suffix in suffixes and path.parent.name != "tests":
            slugs = {match[2].removesuffix(".git") for match in GITHUB.finditer(text)} - OTHERS
            for address in {f"https://github.com/{slug}" for slug in slugs} | ({UNSET} if UNSET in text else set()):
                where.setdefault(address, set()).add(path.relative_to(ROOT).as_posix())
    assert set(where) == {current()}, where
    assert NAMED <= where[current()]


@pytest.fixture
def copy(tmp_path):
    """The files of this checkout that name the address, and the chapters, with no address set."""
    for path, text in text_files(ROOT):
        if current() in text or path.parent == ROOT / "notebooks" or path.name in {"pyproject.toml", "README.md"}:
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    return tmp_path


def first_code(path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))


def test_make_address_rewrites_every_mention(copy):
    old, url = current(copy), "https://github.com/someone/some.book"
    assert copy / "_config.yml" in change(copy, url + ".git")
    assert current(copy) == url and change(copy, url) == []
    assert not [path for path, text in text_files(copy) if old in text or "no public address" in text]
    chapters = sorted((copy / "notebooks").glob("*.ipynb"))
    clone = f"    !git clone -q --depth 1 --branch v{version()} {url} romae-lite\n"
    assert chapters and all(first_code(chapter).count(clone) == 1 for chapter in chapters)
    project = copy / "pyproject.toml"
    project.write_text(project.read_text().replace(f'version = "{version()}"', 'version = "9.9"'))
    assert change(copy, url) == chapters and "--branch v9.9 " in first_code(chapters[0])


def test_chapters_fetch_what_this_version_says(copy):
    assert change(copy, current(copy)) == [], "run `make address`"


@pytest.mark.parametrize(
    "url", ["github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a", "", "https://github.com/a/b/c"]
)
def test_an_address_of_another_form_is_refused(url):
    with pytest.raises(SystemExit, match="expected https://github.com/owner/name"):
        change(ROOT, url)

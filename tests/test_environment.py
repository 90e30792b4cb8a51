"""pyproject.toml, environment.yml, constraints.txt and Colab agree; the public address has one source."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from address import FORM, change, current, text_files
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

# Colab's GPU runtime of August 2026 (googlecolab/backend-info): what a reader's `pip install` finds there.
COLAB_PYTHON = "3.13.15"
COLAB = {
    "torch": "2.11.0",
    "numpy": "2.1.3",
    "scipy": "1.16.3",
    "matplotlib": "3.10.0",
    "pandas": "2.2.3",
    "ipywidgets": "7.7.1",
    "ipython": "7.34.0",
    "ipykernel": "6.17.1",
    "tqdm": "4.67.3",
    "einops": "0.8.2",
    "scikit-learn": "1.6.1",
    "pytest": "8.4.2",
}
CONDA_NAMES = {"pytorch": "torch"}  # conda-forge's name: PyPI's


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def requirements(project) -> dict[str, Requirement]:
    """Core and all extras, by canonical name."""
    extras = project["optional-dependencies"]
    every = [Requirement(text) for text in [*project["dependencies"], *sum(extras.values(), [])]]
    return {canonicalize_name(r.name): r for r in every}


@pytest.fixture(scope="module")
def constraints(root) -> dict[str, Version]:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pins}


def test_no_requirement_is_listed_twice_with_different_bounds(project):
    seen = {}
    for text in [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]:
        requirement = Requirement(text)
        assert seen.setdefault(requirement.name, requirement.specifier) == requirement.specifier


def test_environment_yml_says_the_same_as_pyproject(root, project, requirements):
    environment = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))
    entries = [e for e in environment["dependencies"] if isinstance(e, str)]
    from_pip = next(e["pip"] for e in environment["dependencies"] if isinstance(e, dict))
    assert from_pip[-1] == "--editable ."
    conda = {}
    for text in [*entries, *from_pip[:-1]]:
        r = Requirement(text)
        conda[canonicalize_name(CONDA_NAMES.get(r.name, r.name))] = r.specifier
    assert conda.pop("python") == Requirement("python" + project["requires-python"]).specifier
    conda.pop("pip")
    assert conda == {name: r.specifier for name, r in requirements.items()}


def test_every_requirement_is_pinned_within_its_bounds(requirements, constraints):
    for name, requirement in requirements.items():
        assert name in constraints, f"{name} is missing in constraints.txt"
        assert requirement.specifier.contains(constraints[name]), f"{requirement} against {constraints[name]}"


def test_constraints_are_portable(root):
    """No build of one platform (torch 2.x+cpu), no local path, no index."""
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
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


def test_nothing_is_installed_unpinned(root, project, constraints):
    """All that `make` installs, directly or not, is in constraints.txt (torch pins its own CUDA packages)."""
    if not sys.prefix.startswith(str(root)):
        pytest.skip("this environment was not made by `make`")
    extras = project["optional-dependencies"]
    installed = reachable([*project["dependencies"], *extras["book"], *extras["test"]])
    own = {"setuptools", "pip", "wheel", "triton"}
    for name, version in installed.items():
        if name in own or name.startswith(("nvidia-", "cuda-")):
            continue
        assert name in constraints, f"{name} {version} is installed, and not in constraints.txt"
        assert Version(version).public == str(constraints[name]), f"{name} {version}"


def test_installing_on_colab_replaces_nothing(project):
    """Every floor, ours and those of the two packages that Colab may lack, admits Colab's versions."""
    assert Requirement("python" + project["requires-python"]).specifier.contains(COLAB_PYTHON)
    core = [Requirement(text) for text in project["dependencies"]]
    admitted = {r.name for r in core if r.name in COLAB}
    assert admitted >= {"torch", "numpy", "scipy", "matplotlib"}
    for r in core:
        if r.name in COLAB:
            assert r.specifier.contains(COLAB[r.name]), f"{r} would replace Colab's {COLAB[r.name]}"
            continue
        for text in importlib.metadata.requires(r.name) or []:
            inner = Requirement(text)
            if inner.name in COLAB and (inner.marker is None or inner.marker.evaluate({"extra": ""})):
                assert inner.specifier.contains(COLAB[inner.name]), f"{r.name} needs {inner}"


@pytest.mark.slow
def test_training_needs_neither_jupyter_nor_matplotlib(root, tmp_path):
    """A bare GPU machine has torch, numpy, scipy, accelerate, safetensors and einops; `run` must do with that."""
    absent = set("matplotlib PIL IPython ipykernel ipywidgets nbformat tqdm pandas yaml sklearn".split())
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
sys.argv = f"romae_lite run spirals --preset quick {{small}}".split()
runpy.run_module("romae_lite", run_name="__main__")
"""
    environment = dict(os.environ, ROMAE_RESULTS=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(tmp_path.glob("spirals/*.json"))


# -- the public address --------------------------------------------------------------------------------------

OURS = re.compile(
    r"github\.com/(?:repos/)?([A-Za-z0-9-]+/[A-Za-z0-9._-]*[A-Za-z0-9_-])|"
    r"colab\.research\.google\.com/github/([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)/blob"
)
OTHERS = {
    "Chromeilion/RoMAE",
    "alercebroker/ATAT",
    "boschresearch/Continuous-Recurrent-Units",
    "karolpiczak/ESC-50",
    "Chromeilion/RoMAE-Experiments",
    "microsoft/SeqML",
    "reml-lab/hetvae",
    "rsms/inter",
    "JetBrains/JetBrainsMono",
    "googlecolab/backend-info",
    "owner/name",
}


def test_every_mention_of_the_repository_is_the_one_in_config(root):
    where = {}
    for path, text in text_files(root):
        if path.suffix in {".md", ".ipynb", ".toml", ".yml", ".cff", ".py", ".js", ".json"} and path != Path(__file__):
            for match in OURS.finditer(text):
                slug = (match[1] or match[2]).removesuffix(".git")
                if slug not in OTHERS:
                    where.setdefault(slug, set()).add(path.relative_to(root).as_posix())
    assert set(where) == {current(root)}, where
    named = {"README.md", "pyproject.toml", "CITATION.cff", "_config.yml", "book/how_to_run.md", ".zenodo.json"}
    named |= {".github/ISSUE_TEMPLATE/config.yml"}
    assert named <= where[current(root)]


def test_make_address_rewrites_every_mention(root, tmp_path):
    copy = tmp_path / "copy"
    for path, _ in text_files(root):
        target = copy / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    subprocess.run(["git", "init", "-q", "."], cwd=copy, check=True)
    old = current(copy)
    changed = change(copy, "https://github.com/someone/some.book")
    assert copy / "_config.yml" in changed
    assert current(copy) == "someone/some.book"
    assert not [path for path, text in text_files(copy) if old in text]


@pytest.mark.parametrize(
    "url",
    ["github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a", "", "https://github.com/a/b/c"],
)
def test_an_address_of_another_form_is_refused(root, url):
    assert not FORM.fullmatch(url)
    with pytest.raises(SystemExit, match="expected https://github.com/owner/name"):
        change(root, url)

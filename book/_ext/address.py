"""The repository's public address: make address URL=https://github.com/owner/name

Until it is set, every file says UNSET, a name that nobody can register, the site has no button that leads to the
repository, and the first cell of a chapter reads an archive that lies beside the notebook. Once it is set, that cell
clones the version of this page. After a new version in pyproject.toml, `make address` alone brings the cells up to
date.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNSET = "https://" + "address-not-set.invalid"  # in two pieces, so that it stays here when it is replaced elsewhere
FORM = re.compile(r"(https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?")
SENTENCE = re.compile(r"<!-- until the address is set -->.*?<!-- -->\n*", re.S)

COLAB = re.compile(r'(?<=if "google.colab" in sys.modules:)[^\n]*\n.*?(?=\n    %cd -q romae-lite\n)', re.S)
ARCHIVE = """  # elsewhere both packages are installed already
    import os

    if not os.path.exists("romae-lite.zip"):
        raise FileNotFoundError("upload romae-lite.zip first: `make archive` packs it")
    !unzip -q romae-lite.zip"""
CLONE = """  # elsewhere both packages are installed already
    !git clone -q --depth 1 --branch v{version} {url} romae-lite"""


def current(root: Path = ROOT) -> str:
    """Return the address in _config.yml."""
    return re.search(r"^  url: (https://\S+)$", (root / "_config.yml").read_text(encoding="utf-8"), re.M)[1]


def version(root: Path = ROOT) -> str:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def text_files(root: Path):
    """Yield every text file that git tracks or would track, and its text."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_file() and "/vendor/" not in name:
            try:
                yield path, path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue


def set_up(text: str, url: str, version: str) -> str:
    """Return a notebook's text whose first code cell fetches both packages from `url`, at the tag of `version`."""
    notebook, way = json.loads(text), ARCHIVE if url == UNSET else CLONE.format(url=url, version=version)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "google.colab" in source:
            cell["source"] = COLAB.sub(lambda _: way, source).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def change(root: Path, url: str) -> list[Path]:
    """Write the address into every file that names it and the first cell of every chapter. Return what changed."""
    old, changed = current(root), []
    if url != old and not (form := FORM.fullmatch(url)):
        raise SystemExit(f"URL={url!r}: expected https://github.com/owner/name")
    new = old if url == old else form[1]
    for path, text in text_files(root):
        after = text.replace(old, new)
        if path.suffix == ".md" and new != UNSET:
            after = SENTENCE.sub("", after)
        if path.suffix == ".ipynb" and path.parent == root / "notebooks":
            after = set_up(after, new, version(root))
        if after != text:
            path.write_bytes(after.encode("utf-8"))
            changed.append(path)
    return changed


def lead_to_the_repository(app, config):
    """Sphinx's hook: buttons lead to the version of the page, and there are none while there is no address."""
    options = config.html_theme_options
    if current() == UNSET:
        options |= {"use_repository_button": False, "use_issues_button": False, "launch_buttons": {}}
        options.pop("repository_url", None)
    else:
        options["repository_branch"] = f"v{version()}"
        owner, name = current().split("/")[-2:]
        config.html_baseurl = config.html_baseurl or f"https://{owner.lower()}.github.io/{name}/"


def setup(app):
    app.connect("config-inited", lead_to_the_repository)


if __name__ == "__main__":
    for changed_file in change(ROOT, sys.argv[1] if len(sys.argv) > 1 else current()):
        print(changed_file.relative_to(ROOT))
    if current() == UNSET:
        raise SystemExit("there is no address yet: make address URL=https://github.com/owner/name")

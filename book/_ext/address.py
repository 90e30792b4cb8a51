"""Set the repository's public address everywhere it is spelt out: python book/_ext/address.py https://github.com/owner/name"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORM = re.compile(r"https://github\.com/([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?")


def current(root: Path = ROOT) -> str:
    """owner/name, as _config.yml has it."""
    return re.search(r"^  url: https://github\.com/(\S+)$", (root / "_config.yml").read_text(encoding="utf-8"), re.M)[1]


def text_files(root: Path):
    """Every text file that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_file() and "/vendor/" not in name:
            try:
                yield path, path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue


def change(root: Path, url: str) -> list[Path]:
    """Rewrite owner/name in every link and command that holds it; returns the changed files."""
    form = FORM.fullmatch(url)
    if not form:
        raise SystemExit(f"URL={url!r}: expected https://github.com/owner/name")
    old, new, changed = current(root), form[1], []
    for path, text in text_files(root):
        if old in text:
            path.write_bytes(text.replace(old, new).encode("utf-8"))
            changed.append(path)
    return changed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("say which: make address URL=https://github.com/owner/name")
    for changed_file in change(ROOT, sys.argv[1]):
        print(changed_file.relative_to(ROOT))

"""What the pages of the built site weigh, heaviest first: python book/_ext/weight.py _build/html

Three numbers a page, in kB: its HTML, the same compressed as a server sends it, and the files that come when a figure
is seen (their number behind them). The limit of tests/test_book.py is 700 kB of HTML.
"""

import gzip
import re
import sys
from pathlib import Path


def weigh(site: Path) -> list[tuple[str, int, int, int, int]]:
    """Page, bytes of HTML, bytes compressed, bytes that come later, and their files."""
    rows = []
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        content = path.read_bytes()
        names = set(re.findall(rb'(?:data-later|src)="(?:\.\./)*(_later/[^"]+)"', content))
        later = sum((site / name.decode()).stat().st_size for name in names)
        page = path.relative_to(site).as_posix()
        rows.append((page, len(content), len(gzip.compress(content, 9, mtime=0)), later, len(names)))
    return sorted(rows, key=lambda row: -row[1])


if __name__ == "__main__":
    print(f"{'HTML':>7} {'gzip':>6} {'later':>7} {'files':>5}  kB")
    for page, size, small, later, files in weigh(Path(sys.argv[1])):
        print(f"{size / 1e3:7.0f} {small / 1e3:6.0f} {later / 1e3:7.0f} {files:5}  {page}")

"""What the data scripts share: their options, their way to fail, and downloads that resume and are checked: against
what their homes publish, and from the second time on."""

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the scripts run from a checkout that is not installed as well

from romae_book.experiments.data import DataError, data_root  # noqa: E402
from romae_lite.io import atomic_write  # noqa: E402

# What comes from the scripts' own addresses must be this: by OpenSLR's md5sum.txt, and for Tiny ImageNet, which comes
# without encryption, by the sum that its many loaders agree on.
PUBLISHED = {
    "https://www.openslr.org/resources/12/dev-clean.tar.gz": "md5:42e2234ba48799c1f50f24a7926300a1",
    "https://www.openslr.org/resources/12/train-clean-100.tar.gz": "md5:2a93770f6d5c6c964bc36631d331a522",
    "http://cs231n.stanford.edu/tiny-imagenet-200.zip": "md5:90528d7ca1a48142e341f4ef8d21d0de",
}


def options(doc: str, folder: str, home: str) -> argparse.ArgumentParser:
    """A parser with what every script takes; ``folder`` is where its result goes below data/."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="take the data from here, download nothing")
    where = f"{folder} below $ROMAE_DATA, or else below data/ in the checkout"
    parser.add_argument("--out", type=Path, default=data_root() / folder, help=f"default: {where}")
    parser.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read instead of stopping")
    parser.add_argument("--force", action="store_true", help="prepare again even if the result is there")
    parser.add_argument(
        "--home", default=home, type=lambda address: address.rstrip("/") + "/",
        help="address of the folder with the archives; default: %(default)s",
    )
    return parser


def succeeds(work: Callable, *arguments) -> bool:
    """Do it. Where the data, the disk, the network or a missing package stop it: say so on stderr, and False."""
    try:
        work(*arguments)
    except (DataError, OSError) as error:  # the errors of requests are OSErrors
        print(f"error: {error}", file=sys.stderr)
    except ImportError as error:
        print(f"error: {error}; from the checkout, pip install -e '.[data]' has what this needs", file=sys.stderr)
    else:
        return True
    return False


def no_folder(result: Path) -> None:
    """DataError where a folder stands in the place of the result."""
    if result.is_dir():
        raise DataError(f"{result} is a folder; it stands where the result belongs, so move it away")


def finished(result: Path, check: Callable[[], None], chosen: argparse.Namespace) -> bool:
    """Whether a result is there and passes `check`, which raises DataError where it does not; says what it found."""
    no_folder(result)
    if chosen.force or not result.exists():
        return False
    try:
        check()
    except DataError as error:
        if chosen.skip_bad and "not a prepared file" not in str(error):
            print(f"{result}: was prepared from incomplete data ({error}); --force prepares it again")
            return True
        print(f"{result}: {error}; preparing it again")
        return False
    print(f"{result}: is there and complete, nothing to do")
    return True


def download(home: str, names: dict[str, str], folder: Path) -> list[Path]:
    """`fetch`, with a DataError that says what to do where a file is not the one that came the first time."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return fetch(home, names, folder)
    except ValueError as error:  # pooch, where a hash differs; some of requests' OSErrors are ValueErrors too
        if isinstance(error, OSError):
            raise
        raise DataError(f"{home}: {error}; delete the archive and downloads.lock.json to accept a new one") from error


def fetch(base_url: str, names: dict[str, str], folder: Path, retries: int = 3, progress: bool = True) -> list[Path]:
    """Download base_url + query for every {file name: query} into the folder; the files' paths.

    A file that is there is not downloaded again. What arrived of a broken download stays as <name>.part, and the next
    attempt goes on from there. The SHA-256 of each file is written to downloads.lock.json when it first arrives, and
    from then on a file that differs is refused. Raises pooch's or requests' errors where a file cannot be had.
    """
    import pooch  # here, like requests and tqdm: a script with --source works without

    lock = folder / "downloads.lock.json"
    known = json.loads(lock.read_text(encoding="utf-8")) if lock.exists() else {}
    files = pooch.create(
        path=folder, base_url=base_url,
        registry={name: known.get(name) or PUBLISHED.get(base_url + name) for name in names},
        urls={name: base_url + query for name, query in names.items()}, retry_if_failed=retries,
    )
    found = []
    for name in names:
        found.append(Path(files.fetch(name, downloader=Resuming(folder / f"{name}.part", progress))))
        known[name] = f"sha256:{pooch.file_hash(found[-1], alg='sha256')}"
        atomic_write(lock, (json.dumps(known, indent=2, sort_keys=True) + "\n").encode())
    return found


class Resuming:
    """A downloader for pooch that keeps what has arrived in a .part file and asks the server for the rest."""

    def __init__(self, part: Path, progress: bool = True):
        self.part, self.progress = part, progress

    def __call__(self, url: str, output_file: str, _pooch) -> None:
        import requests
        from tqdm import tqdm

        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=60) as answer:
            if answer.status_code == 416:  # nothing is left to send, or the part is not of this file: start afresh
                if answer.headers.get("Content-Range") == f"bytes */{have}":
                    shutil.move(self.part, output_file)
                    return
                self.part.unlink()
                raise requests.exceptions.ConnectionError(f"{url}: the server cannot go on from byte {have}")
            answer.raise_for_status()
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                raise requests.exceptions.ConnectionError(f"{url}: a web page came, and no archive")
            resumed = answer.status_code == 206
            length = int(answer.headers.get("Content-Length", 0)) + (have if resumed else 0)
            bar = tqdm(total=length or None, initial=have if resumed else 0, unit="B", unit_scale=True,
                       desc=Path(url.split("?")[0]).name, disable=not self.progress)
            with bar, open(self.part, "ab" if resumed else "wb") as file:
                for chunk in answer.iter_content(4096):  # what is lost at a break is less than this
                    file.write(chunk)
                    bar.update(len(chunk))
        if length and (got := self.part.stat().st_size) != length:
            raise requests.exceptions.ConnectionError(f"{url}: {got} of {length} bytes arrived")
        shutil.move(self.part, output_file)

"""Archives: read to the last byte, cut at many places, with single bits flipped, with members that play tricks."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from romae_book.experiments.data import DataError, limited, members
from romae_book.experiments.physionet import data as icu

KINDS = ("", "gz", "bz2", "xz")
FILES = {f"set/{i}.txt": np.random.default_rng(i).bytes(size) for i, size in enumerate((900, 1024, 0, 700))}


def packed(kind: str = "", files: dict[str, bytes] = FILES, odd: tarfile.TarInfo | None = None) -> bytes:
    """A .tar of a folder and files, and of one odd member before the last."""
    out, folder = io.BytesIO(), tarfile.TarInfo("./set/")
    folder.type = tarfile.DIRTYPE
    with tarfile.open(fileobj=out, mode=f"w:{kind}") as archive:
        archive.addfile(folder)
        for i, (name, content) in enumerate(files.items()):
            if odd and i == len(files) - 1:
                archive.addfile(odd)
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def read(path: Path) -> dict[str, bytes] | None:
    """What is in an archive; None where it is refused by its name."""
    try:
        return {name: b"".join(pieces) for name, pieces in members(path)}
    except DataError as error:
        assert str(error).startswith(f"{path} is damaged or cut off (")
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_shortens_an_archive(tmp_path, kind):
    whole, path = packed(kind), tmp_path / "a.tar"
    path.write_bytes(whole)
    assert read(path) == FILES
    step = 7 if kind else 28  # the unpacked one holds 10,240 bytes, in blocks of 512
    needed = len(whole) if kind else len(whole.rstrip(b"\0")) // 512 * 512 + 3 * 512  # the rest is empty blocks
    for end in {*range(0, len(whole), step), *range(0, len(whole), 512)}:
        path.write_bytes(whole[:end])
        assert read(path) == (FILES if end >= needed and end % 512 == 0 else None), end
    refused = 0
    for place in range(0, len(whole), step):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place // step % 8]) + whole[place + 1 :])
        found = read(path)
        refused += found is None
        if found is not None and not kind:  # a .tar has checksums over headers, and none over what is in the files
            found = {name: FILES.get(name) if len(found[name]) == len(FILES.get(name, "")) else b"" for name in found}
        assert found in (None, FILES), place
    assert refused > 0.2 * len(whole) / step


def odd(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


TRICKS = [
    (odd("../../evil/3.txt"), "points out of the archive"), (odd("set/../../3.txt"), "points out of the archive"),
    (odd("/tmp/3.txt"), "points out of the archive"), (odd("../evil", tarfile.DIRTYPE), "points out of the archive"),
    (odd("set/9.txt", tarfile.SYMTYPE, "/etc/passwd"), "is a link or a device"),
    (odd("set/9.txt", tarfile.LNKTYPE, "set/0.txt"), "is a link or a device"),
    (odd("set/9.txt", tarfile.FIFOTYPE), "is a link or a device"), (odd("set/9", tarfile.CHRTYPE), "is a link or a"),
    (odd("set/0.txt"), "is there twice"), (odd("set//./1.txt"), "is there twice"),
]


@pytest.mark.parametrize(("member", "message"), TRICKS, ids=lambda x: getattr(x, "name", ""))
def test_tricks_are_refused_by_name(data_script, tmp_path, member, message):
    """By both readers, and nothing is left of what came before."""
    for path in (tmp_path / "set-a.tar", tmp_path / "set-b.tar"):
        path.write_bytes(packed(odd=member))
    words = f"set-a.tar: member '{member.name}' {message}"
    with pytest.raises(DataError) as caught:
        list(icu.texts(tmp_path))
    assert words in str(caught.value)
    with pytest.raises(DataError) as caught:
        data_script("elasticc").unpack(tmp_path / "set-a.tar", tmp_path / "out" / "raw", False)
    assert words in str(caught.value)
    assert {path.name for path in tmp_path.rglob("*")} == {"set-a.tar", "set-b.tar", "out", "raw"}


def test_a_damaged_archive_leaves_no_folder_and_no_stamp(data_script, tmp_path):
    unpack, path, folder = data_script("elasticc").unpack, tmp_path / "a.tar", tmp_path / "raw"
    whole = packed()
    for end in (6144, 3000, 700, 100, 0):
        path.write_bytes(whole[:end])
        with pytest.raises(DataError, match=r"a\.tar is damaged or cut off"):
            unpack(path, folder, False)
        assert list(folder.iterdir()) == []
    path.write_bytes(whole)
    assert unpack(path, folder, False) == folder / "a" and (folder / "a" / ".done").exists()
    assert {name: (folder / "a" / name).read_bytes() for name in FILES} == FILES


@pytest.mark.parametrize("name", ["...tar", "..tar"])
def test_names_that_would_empty_another_folder(data_script, tmp_path, name):
    raw = tmp_path / "out" / "raw"
    raw.mkdir(parents=True)
    precious = [tmp_path / "out" / "precious.txt", raw / "other.txt"]
    for path in (*precious, tmp_path / name):
        path.write_bytes(packed())
    with pytest.raises(DataError, match="names no folder; rename it"):
        data_script("elasticc").unpack(tmp_path / name, raw, True)
    inside = raw / "a" / "a.tar"
    inside.parent.mkdir()
    inside.write_bytes(packed())
    with pytest.raises(DataError, match="is emptied before it is unpacked there; move it away"):
        data_script("elasticc").unpack(inside, raw, True)
    assert all(path.exists() for path in (*precious, inside))


def test_what_is_larger_than_the_limit_is_refused():
    pieces = [b"abc", b"de"]
    assert limited(iter(pieces), 5, "x.gz") == b"abcde"
    with pytest.raises(DataError, match=r"x.gz: holds more than 4 bytes when unpacked"):
        limited(iter(pieces), 4, "x.gz")

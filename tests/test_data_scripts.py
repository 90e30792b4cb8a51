"""Data scripts: against small archives, damaged ones, and a web server of our own. No test leaves this machine."""

import http.server
import io
import json
import tarfile
import threading

import numpy as np
import pytest
from prepared import prepares_once, refused

from romae_book.experiments.physionet import data as icu
from romae_book.experiments.uea.data import SETS

SCRIPTS = {
    "physionet": (), "uea": SETS, "elasticc": ("--partition", "--download"), "esc50": ("esc10_flac16k",),
    "librispeech": ("--seconds",), "audioset": ("--segments",), "tiny_imagenet": (),
    "lightcurves": ("eros1", "mallorn"),
}  # and options of its own


@pytest.fixture(scope="module")
def script(data_script):
    return data_script("physionet")


@pytest.fixture(scope="module")
def files() -> dict[str, dict[str, str]]:
    """Ten made-up records in each set, in the format of the real ones."""
    made = icu.simulated(20, np.random.default_rng(0))
    texts = {}
    for i in range(20):
        record = 132539 + i
        lines = ["Time,Parameter,Value", f"00:00,RecordID,{record}", "00:00,Height,-1"]
        for k in range(made.start[i], made.start[i + 1]):
            hours, minutes = divmod(int(made.minute[k]), 60)
            lines.append(f"{hours:02}:{minutes:02},{icu.CHANNELS[made.channel[k]]},{made.value[k]:.7g}")
        texts[f"{record}.txt"] = "\n".join(lines) + "\n"
    names = sorted(texts)
    return {"set-a": {n: texts[n] for n in names[:10]}, "set-b": {n: texts[n] for n in names[10:]}}


@pytest.fixture
def few(monkeypatch, files, tmp_path):
    """The script's idea of the complete data set: those twenty records."""
    folder = unpacked(files, tmp_path / "truth")
    records, _ = icu.read(folder)
    monkeypatch.setattr(icu, "RECORDS", 20)
    monkeypatch.setattr(icu, "EMPTY", ())
    monkeypatch.setattr(icu, "FINGERPRINT", records.fingerprint())


def unpacked(files, folder):
    for part, texts in files.items():
        (folder / part).mkdir(parents=True)
        for name, text in texts.items():
            (folder / part / name).write_text(text)
    return folder


def archives(files, folder, kind="gz", order=1):
    folder.mkdir(parents=True, exist_ok=True)
    for part, texts in files.items():
        with tarfile.open(folder / f"{part}.tar.{kind}", f"w:{kind}") as packed:
            for name, text in [("Outcomes.txt", "RecordID,Survival\n"), *list(texts.items())[::order]]:
                info = tarfile.TarInfo(f"./{part}/{name}")
                info.size = len(text)
                packed.addfile(info, io.BytesIO(text.encode()))
    return folder


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_explains_itself(data_script, capsys, name):
    with pytest.raises(SystemExit, match="0"):
        data_script(name).main(["--help"])
    words = ("--source", "--out", "--skip-bad", "--force", "second run does nothing", *SCRIPTS[name])
    printed = capsys.readouterr().out
    assert [word for word in words if word not in printed] == []


def test_the_result_does_not_depend_on_the_packing(script, files, few, tmp_path, capsys):
    sources = [unpacked(files, tmp_path / "folder")]
    sources += [archives(files, tmp_path / kind, kind, order) for kind, order in (("gz", 1), ("xz", -1), ("bz2", 1))]
    for i, source in enumerate(sources):
        out = tmp_path / f"out{i}"
        assert script.main(["--source", str(source), "--out", str(out)]) == 0
        assert [path.name for path in out.iterdir()] == [icu.PREPARED]
        assert icu.load(out).fingerprint() == icu.FINGERPRINT
    assert "20 records" in capsys.readouterr().out


def test_what_was_prepared_is_where_chapters_look(script, files, few, tmp_path, monkeypatch):
    """Below ROMAE_DATA; and prepared again, it is read again."""
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    source = unpacked(files, tmp_path / "source")
    assert script.main(["--source", str(source)]) == 0
    assert len(icu.load()) == 20
    (source / "set-a" / min(files["set-a"])).unlink()
    assert script.main(["--source", str(source), "--force", "--skip-bad"]) == 0
    assert len(icu.load()) == 19


def test_it_prepares_once(script, files, few, tmp_path, capsys):
    prepares_once(script.main, archives(files, tmp_path / "gz"), tmp_path / "out" / icu.PREPARED, capsys)
    assert icu.load(tmp_path / "out").fingerprint() == icu.FINGERPRINT


def test_a_record_that_is_garbled(script, files, few, tmp_path, capsys):
    source, out = unpacked(files, tmp_path / "bad"), tmp_path / "out"
    path = source / "set-a" / "132541.txt"
    path.write_text(path.read_text()[:-9])
    assert "set-a/132541.txt: line " in refused(script, source, out, capsys)
    assert script.main(["--source", str(source), "--out", str(out), "--skip-bad"]) == 0
    told = capsys.readouterr().err
    assert "skipped: set-a/132541.txt" in told and "not be comparable" in told
    assert 132541 not in icu.load(out).ids and len(icu.load(out)) == 19
    assert script.main(["--source", str(source), "--out", str(out), "--skip-bad"]) == 0
    assert "incomplete" in capsys.readouterr().out


def test_an_archive_that_is_damaged(script, files, few, tmp_path, capsys):
    source, out = archives(files, tmp_path / "bad"), tmp_path / "out"
    path = source / "set-b.tar.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "set-b.tar.gz" in refused(script, source, out, capsys)
    assert script.main(["--source", str(source), "--out", str(out), "--skip-bad"]) == 0
    assert "skipped: " in (told := capsys.readouterr().err) and "set-b.tar.gz" in told
    assert 10 <= len(icu.load(out)) < 20


def test_a_file_that_is_missing(script, files, few, tmp_path, capsys):
    source, out = archives(files, tmp_path / "bad"), tmp_path / "out"
    (source / "set-b.tar.gz").unlink()
    assert "set-b" in refused(script, source, out, capsys)
    source = unpacked(files, tmp_path / "short")
    (source / "set-a" / "132540.txt").unlink()
    assert "19 records" in refused(script, source, out, capsys)


def test_a_value_that_was_changed(script, files, few, tmp_path, capsys):
    source, out = unpacked(files, tmp_path / "bad"), tmp_path / "out"
    path = source / "set-a" / "132540.txt"
    path.write_text(path.read_text() + "47:59,HR,1\n")
    assert "fingerprint" in refused(script, source, out, capsys)


@pytest.mark.parametrize(
    ("name", "result", "options"),
    [
        ("physionet", icu.PREPARED, ()),
        ("uea", "LSST.npz", ("LSST",)),
        ("elasticc", "elasticc.h5", ("--force",)),
        ("tiny_imagenet", "tiny_imagenet.npz", ()),
    ],
)
def test_a_folder_in_place_of_the_result(data_script, tmp_path, capsys, name, result, options):
    (tmp_path / "out" / result).mkdir(parents=True)
    call = [*options, "--source", str(tmp_path), "--out", str(tmp_path / "out"), "--skip-bad"]
    assert data_script(name).main(call) == 1
    assert f"{result} is a folder; it stands where the result belongs" in capsys.readouterr().err


# Downloads -----------------------------------------------------------------------------------------------------------


class Home(http.server.BaseHTTPRequestHandler):
    """Serves the archives, byte ranges as well; breaks off each of the first `breaks` answers half-way."""

    def do_GET(self):
        name = self.path.split("?")[0].strip("/")
        asked = self.headers.get("Range")
        self.server.asked.append((name, asked))
        if self.server.page:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(self.server.page)
            return
        if name not in self.server.contents:
            self.send_error(404)
            return
        content = self.server.contents[name]
        start = int(asked[6:-1]) if asked and self.server.ranges else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        rest = content[start:]
        if self.server.breaks:
            self.server.breaks -= 1
            rest = rest[: len(rest) // 2]
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


@pytest.fixture
def home(files, tmp_path):
    pytest.importorskip("pooch")
    folder = archives(files, tmp_path / "home")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Home)
    server.contents = {path.name: path.read_bytes() for path in folder.iterdir()}
    server.asked, server.breaks, server.ranges, server.page = [], 0, True, None
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()  # seconds between looks
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def patient(monkeypatch):
    """pooch waits a second and more before it tries again; here it need not."""
    monkeypatch.setattr("time.sleep", lambda _: None)


def address(server) -> str:
    return f"http://127.0.0.1:{server.server_port}/"


def test_download(script, home, few, tmp_path, patient):
    out = tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 0
    assert icu.load(out).fingerprint() == icu.FINGERPRINT
    lock = json.loads((out / "downloads.lock.json").read_text())
    assert set(lock) == {"set-a.tar.gz", "set-b.tar.gz"} and all(h.startswith("sha256:") for h in lock.values())
    asked = len(home.asked)
    assert script.main(["--home", address(home), "--out", str(out)]) == 0
    assert script.main(["--home", address(home), "--out", str(out), "--force"]) == 0
    assert len(home.asked) == asked == 2  # what is there is not fetched again


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on(script, home, few, tmp_path, patient, ranges):
    home.breaks, home.ranges, out = 2, ranges, tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 0
    assert icu.load(out).fingerprint() == icu.FINGERPRINT
    half = len(home.contents["set-a.tar.gz"]) // 2
    assert home.asked[0] == ("set-a.tar.gz", None) and home.asked[1][0] == "set-a.tar.gz"
    assert half - 4096 < int(home.asked[1][1].removeprefix("bytes=").removesuffix("-")) <= half  # all but a last chunk
    assert not list(out.glob("*.part"))


def test_a_web_page_is_no_archive(script, home, few, tmp_path, patient, capsys):
    """As servers answer where a file has moved or a login is missing. Nothing of it stays, so that the next run asks
    again."""
    home.page, out = b"<html>moved</html>", tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 1
    assert "a web page came, and no archive" in capsys.readouterr().err
    home.page = None
    assert script.main(["--home", address(home), "--out", str(out)]) == 0


def test_a_download_that_keeps_breaking(script, home, few, tmp_path, patient, capsys):
    home.breaks, out = 100, tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 1
    assert "set-a.tar.gz" in capsys.readouterr().err and not (out / icu.PREPARED).exists()
    home.breaks = 0  # the next run goes on where that one stopped
    assert script.main(["--home", address(home), "--out", str(out)]) == 0
    assert home.asked[-2][1].startswith("bytes=")


def test_an_archive_that_is_not_there(script, home, few, tmp_path, patient, capsys):
    del home.contents["set-b.tar.gz"]
    out = tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 1
    assert "set-b.tar.gz" in capsys.readouterr().err and not (out / icu.PREPARED).exists()


def test_an_address_without_its_beginning(script, tmp_path, patient, capsys):
    """`requests` raises what is an OSError and a ValueError both; pooch raises the latter for a changed archive."""
    assert script.main(["--home", "localhost/somewhere", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "localhost/somewhere/" in said and "downloads.lock.json" not in said


def test_an_archive_that_is_not_the_one_of_the_first_time(script, home, few, tmp_path, patient, capsys):
    out = tmp_path / "out"
    assert script.main(["--home", address(home), "--out", str(out)]) == 0
    (out / "set-a.tar.gz").unlink()
    home.contents["set-a.tar.gz"] = home.contents["set-b.tar.gz"]
    assert script.main(["--home", address(home), "--out", str(out), "--force"]) == 1
    assert "set-a.tar.gz" in (told := capsys.readouterr().err) and "downloads.lock.json" in told

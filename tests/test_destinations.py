"""What an output's name leads to, with real devices, pipes, sockets, links and descriptors."""

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.survival.small_disks import NAMESPACE, can_mount

from attendo.destinations import check_output_file, find_destination
from attendo.errors import DataError
from attendo.files import text_stream, write_text

NOBODY = 65534
as_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may do it")


def by_stream(path: Path, text: str) -> None:
    with text_stream(path) as stream:
        stream.write(text)


WRITERS = pytest.mark.parametrize("write", [write_text, by_stream])
Write = Callable[[Path, str], None]


@contextmanager
def without_rights() -> Iterator[None]:
    """Works as another user than root."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder in which everybody may write, also below pytest's own and its workers', which are private."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.stat().st_uid == os.geteuid() and folder.name.startswith(("pytest-", "popen-", "test_")):
            folder.chmod(0o755)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    return tmp_path / "shared"


@as_root
@WRITERS
def test_a_device_stays_a_device(write: Write, tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null, see null(4)
    except PermissionError:
        pytest.skip("no device may be made here")
    write(device, "gone")
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["null"]
    assert check_output_file(device) is None


@WRITERS
def test_a_fifo_s_reader_gets_the_text(write: Write, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
        write(fifo, "ein Satz\n" * 20_000)
        assert reader.communicate()[0] == b"ein Satz\n" * 20_000
    assert stat.S_ISFIFO(fifo.lstat().st_mode)


def test_a_fifo_s_reader_gets_each_line_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader, text_stream(fifo) as stream:
        assert reader.stdout is not None
        stream.write("first\n")
        assert reader.stdout.readline() == b"first\n"  # while the stream is open
        stream.write("second\n")


@WRITERS
def test_who_listens_at_a_socket_gets_the_text(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name is of 108 bytes at the most
    received: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind("socket")
        server.listen()

        def listen() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as stream:
                received.append(stream.read())

        listener = threading.Thread(target=listen)
        listener.start()
        write(Path("socket"), "ein Satz\n")
        listener.join()
    assert received == [b"ein Satz\n"]
    assert stat.S_ISSOCK(Path("socket").lstat().st_mode)
    with pytest.raises(ConnectionRefusedError) as caught:  # nobody listens any more
        write(Path("socket"), "x")
    assert caught.value.filename == "socket"


@WRITERS
@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}", "link"])
def test_a_descriptor_is_written_to_where_it_is(write: Write, name: str, tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("before ")
    number = path.stat().st_ino
    with path.open("a") as file:
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        named = tmp_path / "link" if name == "link" else Path(name.format(file.fileno()))
        write(named, "first ")
        write(named, "second")
        assert check_output_file(named) is None
    assert path.read_text() == "before first second"
    assert path.stat().st_ino == number


def test_a_descriptor_of_another_process_is_appended_to(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("before ")
    with (
        (tmp_path / "output").open("r+") as file,
        subprocess.Popen(["sleep", "60"], stdout=file) as other,
    ):
        write_text(Path(f"/proc/{other.pid}/fd/1"), "behind")
        other.kill()
    assert (tmp_path / "output").read_text() == "before behind"


def test_a_descriptor_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "input").touch()
    with (tmp_path / "input").open() as file:
        for number in (file.fileno(), 987):
            with pytest.raises(
                DataError, match=rf"^/dev/fd/{number}: is not open for writing; redirect it, as in {number}> FILE"
            ):
                check_output_file(Path(f"/dev/fd/{number}"))
    with pytest.raises(OSError, match="Bad file descriptor") as caught:
        write_text(Path("/dev/fd/987"), "x")
    assert caught.value.filename == "/dev/fd/987"


@WRITERS
def test_links_stay_and_their_target_is_replaced(write: Write, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "target.txt"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "elsewhere" / "second").symlink_to("target.txt")
    (tmp_path / "first").symlink_to(Path("elsewhere") / "second")
    with target.open() as still_open:
        write(tmp_path / "first", "new")
        assert still_open.read() == "old", "who reads it sees the whole of the old text"
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert (tmp_path / "first").readlink() == Path("elsewhere/second")
    assert (tmp_path / "elsewhere" / "second").readlink() == Path("target.txt")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "first", "second", "target.txt"]


@WRITERS
def test_a_dangling_link_s_target_is_made(write: Write, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(Path("missing") / "target")
    assert check_output_file(tmp_path / "link") == tmp_path / "missing"
    write(tmp_path / "link", "new")
    assert (tmp_path / "missing" / "target").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


@WRITERS
def test_a_loop_of_links_and_a_folder_are_errors(write: Write, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to folder").symlink_to("folder")
    with pytest.raises(DataError, match=r"a: is a symbolic link that leads back to itself; remove it, or name another"):
        write(tmp_path / "a", "x")
    for name in ("folder", "to folder"):
        with pytest.raises(DataError, match=rf"{name}: is a folder; name a file, such as .*{name}/output"):
            write(tmp_path / name, "x")
    assert list((tmp_path / "folder").iterdir()) == []


def test_what_cannot_be_written_is_found_out_without_writing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "a" / "b"
    with pytest.raises(
        DataError, match=rf"^{tmp_path}/file: is not a folder, so {below} cannot be written; name another"
    ):
        check_output_file(below)
    assert check_output_file(tmp_path / "x") is None
    assert check_output_file(tmp_path / "new" / "deep" / "x") == tmp_path / "new" / "deep"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@as_root
def test_missing_permission_is_found_out_without_writing(shared: Path) -> None:
    (shared / "mine").touch(0o600)
    (shared / "private").mkdir(0o755)
    with without_rights():
        assert check_output_file(shared / "new") is None
        with pytest.raises(
            DataError, match=r"mine: no permission to write to it; change its mode \(chmod\), or name an"
        ):
            check_output_file(shared / "mine")
        with pytest.raises(DataError, match=r"private: no permission to write there, as .*deep/x needs; name another"):
            check_output_file(shared / "private" / "deep" / "x")


def test_the_mode_of_a_file_is_kept_and_a_new_one_has_the_umask_s(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o604)
    before = os.umask(0o027)
    try:
        for write in (write_text, by_stream):
            write(tmp_path / "old", "x")
            assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o604
            write(tmp_path / write.__name__, "x")
            assert stat.S_IMODE((tmp_path / write.__name__).stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "private").touch(0o600)
    with text_stream(tmp_path / "private"):
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@as_root
def test_the_owner_of_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "old").touch(0o640)
    os.chown(tmp_path / "old", NOBODY, 1234)
    write_text(tmp_path / "old", "new")
    status = (tmp_path / "old").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (NOBODY, 1234, 0o640)


@as_root
def test_another_s_file_that_one_may_write_to_stays_another_s(shared: Path) -> None:
    path = shared / "root's"
    path.write_text("a longer old text")
    path.chmod(0o666)
    with without_rights():
        write_text(path, "new")
    assert path.read_text() == "new"
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (0, 0o666)
    assert list(shared.iterdir()) == [path]


def test_hard_links_go_on_sharing_one_content(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("a longer old text")
    (tmp_path / "other").hardlink_to(tmp_path / "one")
    write_text(tmp_path / "one", "new")
    assert (tmp_path / "other").read_text() == "new"
    assert (tmp_path / "one").samefile(tmp_path / "other")
    with text_stream(tmp_path / "one") as stream:
        stream.write("newer")
        stream.flush()
        assert (tmp_path / "other").read_text() == "new", "nothing is written before the whole is there"
    assert (tmp_path / "other").read_text() == "newer"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]


def test_hard_links_keep_the_old_text_when_the_disk_has_no_room_for_the_new(tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("this user may not mount a small disk")
    script = """
import sys
from pathlib import Path
from attendo.files import write_text
folder = Path(sys.argv[1])
(folder / "one").write_text("old")
(folder / "other").hardlink_to(folder / "one")
try:
    write_text(folder / "one", "x" * 40_000)  # the draft has room, and a copy of it has none
except OSError as error:
    print(error.strerror, error.filename == str(folder / "one"))
print((folder / "other").read_text(), sorted(path.name for path in folder.iterdir()))
"""
    mounted = f'mount -t tmpfs -o size=64k tmpfs "{tmp_path}" && exec "{sys.executable}" - "{tmp_path}"'
    finished = subprocess.run(
        [*NAMESPACE, "sh", "-c", mounted], input=script, capture_output=True, text=True, check=True
    )
    assert finished.stdout == "No space left on device True\nold ['one', 'other']\n"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has extended attributes in os")
def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    try:
        os.setxattr(tmp_path / "old", "user.origin", b"WMT")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    write_text(tmp_path / "old", "new")
    assert os.getxattr(tmp_path / "old", "user.origin") == b"WMT"


def test_an_ordinary_name_of_digits_is_a_file(tmp_path: Path) -> None:
    write_text(tmp_path / "7", "x")
    assert (tmp_path / "7").read_text() == "x"
    assert find_destination(tmp_path / "7").is_file

"""Writers that are opened and closed by name, and that wait for one another."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cento
import pytest


def test_a_writer_is_opened_and_closed_by_name(empty: cento.Index) -> None:
    w = empty.open_writer()
    assert repr(w) == "<Writer: open>"
    assert w.add("a", "one two three") == "added"
    assert len(empty) == 0
    w.commit()
    assert len(empty) == 1
    w.add("b", "four five six")
    w.close()
    w.close()
    assert repr(w) == "<Writer: closed>"
    assert len(empty) == 2
    with pytest.raises(cento.InvalidArgumentError, match="the writer is closed; open another one"):
        w.add("c", "text")
    w = empty.open_writer()
    w.add("c", "text")
    w.discard()
    assert len(cento.Index(empty.path)) == 2
    # Also in a block, from then on.
    with empty.open_writer() as w:
        w.add("c", "text")
    assert len(empty) == 3
    with empty.writer() as w:
        w.add("d", "text")
        w.close()
    assert len(empty) == 4
    with pytest.raises(ZeroDivisionError), empty.open_writer() as w:
        w.add("e", "text")
        raise ZeroDivisionError
    assert len(cento.Index(empty.path)) == 4


def test_a_writer_that_was_never_open_says_so(empty: cento.Index) -> None:
    w = empty.writer()
    assert repr(w) == "<Writer: not open yet>"
    with pytest.raises(cento.InvalidArgumentError, match=r"not open yet.*index\.open_writer\(\)`"):
        w.add("a", "text")
    w.close()
    with w:
        w.add("a", "text")
    assert len(empty) == 1


def test_a_lock_of_this_process_is_not_said_to_be_of_another(
    empty: cento.Index, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(empty.path, target_is_directory=True)
    calls: list[Any] = [
        empty.open_writer,
        cento.Index(link).open_writer,
        empty.compact,
        lambda: list(cento.dedup(["text"], index=empty.path)),
        lambda: cento.Deduper(empty.path).keep({"text": ["text"]}),
    ]
    with empty.writer():
        for call in calls:
            with pytest.raises(cento.LockedError) as raised:
                call()
            assert "this process is writing to this index already" in str(raised.value)
            assert "another process" not in str(raised.value)
            assert raised.value.reason == "locked"
    run = cento.dedup((f"text {at}" for at in range(10_000)), index=empty.path)
    next(run)
    with pytest.raises(cento.LockedError, match="another `dedup`"):
        empty.open_writer()
    del run
    empty.open_writer().close()


HOLDER = """
import sys, cento
w = cento.Index(sys.argv[1]).open_writer()
w.add("theirs", "text")
print("open", flush=True)
sys.stdin.readline()
w.close()
"""


def test_a_writer_waits_for_that_of_another_process(empty: cento.Index) -> None:
    call = [sys.executable, "-c", HOLDER, empty.path]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        for wait in (None, 0, 0.05):
            with pytest.raises(cento.LockedError, match="another process is writing"):
                empty.open_writer(wait=wait)
            with pytest.raises(cento.LockedError, match="another process is writing"):
                list(cento.dedup(["text"], index=empty.path, wait=wait))
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            path = empty.path
            waiting: list[concurrent.futures.Future[Any]] = [
                threads.submit(lambda: empty.open_writer(wait=600).close()),
                threads.submit(lambda: list(cento.dedup(["ours"], index=path, wait=600))),
                threads.submit(lambda: empty.compact(wait=600)),
            ]
            holder.stdin.write("end\n")
            holder.stdin.flush()
            for each in waiting:
                each.result()
    empty.reload()
    assert len(empty) == 2


def add_one(path: str, number: int) -> None:
    with cento.Index(path).writer(wait=600) as w:
        w.add(number, f"the document number {number}")


def test_short_writers_of_many_processes_take_turns(empty: cento.Index) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(add_one, [(empty.path, number) for number in range(12)])
    empty.reload()
    assert sorted(map(int, empty.ids())) == list(range(12))


@pytest.mark.parametrize("wait", [-1, "30s", True, float("nan")])
def test_a_time_that_is_none_is_refused(empty: cento.Index, wait: Any) -> None:
    calls: list[Any] = [
        lambda: empty.writer(wait=wait),
        lambda: empty.compact(wait=wait),
        lambda: cento.dedup(["text"], index=empty.path, wait=wait),
        lambda: cento.Deduper(empty.path, wait=wait),
    ]
    for call in calls:
        with pytest.raises(cento.InvalidArgumentError, match="`wait` is"):
            call()


def test_threads_share_a_deduper(tmp_path: Path) -> None:
    deduper = cento.Deduper(tmp_path / "kept.idx", min_resemblance=0.7)
    batches = [
        {"text": [f"one two three four five six seven {at % 50}" for at in range(n, n + 4)]}
        for n in range(0, 200, 4)
    ]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        kept = sum(sum(each) for each in threads.map(deduper.keep, batches))
    assert kept == 50
    assert len(cento.Index(tmp_path / "kept.idx")) == 50


def test_dedupers_of_several_processes_take_turns(tmp_path: Path) -> None:
    deduper = cento.Deduper(tmp_path / "kept.idx", exact=True, wait=600)
    batches = [{"text": [f"text number {at}" for at in range(n, n + 5)]} for n in range(6)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        kept = sum(sum(each) for each in pool.map(deduper.keep, batches))
    assert kept == len(cento.Index(tmp_path / "kept.idx")) == 10


def test_an_open_writer_does_not_keep_a_process_from_ending(empty: cento.Index) -> None:
    program = HOLDER.replace("sys.stdin.readline()", "sys.exit(3)")
    done = subprocess.run([sys.executable, "-c", program, empty.path], check=False)
    assert done.returncode == 3
    assert len(cento.Index(empty.path)) == 0
    empty.open_writer().close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_knows_that_the_writer_is_of_another(empty: cento.Index) -> None:
    read, write = os.pipe()
    with empty.writer():
        child = os.fork()
        if child == 0:
            said = "nothing"
            try:
                empty.open_writer()
            except BaseException as error:
                said = str(error)
            finally:
                os.write(write, said.encode())
                os._exit(0)
        os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert "another process is writing" in pipe.read()


def test_documents_are_removed_by_a_filter_and_meta_objects_change_alone(
    empty: cento.Index,
) -> None:
    with empty.writer() as w:
        for year in (2001, 2002, 2003):
            w.add(str(year), f"some text of {year}", {"year": year, "lang": "en"})
        assert w.remove_matching("year:[* TO 2002]") == 2
        assert w.patch_meta("2003", {"lang": None, "seen": True})
        assert not w.patch_meta("nobody", {"seen": True})
        with pytest.raises(cento.InvalidArgumentError):
            w.remove_matching("year:[")
    found = empty["2003"]
    assert list(empty) == ["2003"]
    assert (found.text, found.meta) == ("some text of 2003", {"year": 2003, "seen": True})


def test_a_lock_that_is_waited_for_is_waited_for_by_a_thread_alone(empty: cento.Index) -> None:
    # The GIL is free meanwhile.
    w = empty.open_writer()
    waiting = threading.Thread(target=lambda: empty.open_writer(wait=600).close())
    waiting.start()
    w.add("a", "text")
    w.close()
    waiting.join()
    assert len(empty) == 1

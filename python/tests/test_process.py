"""Signals, forks and other processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import cento
import pytest

BEGINNING = """
import os, signal, sys, threading, cento
# In the background of a shell it would be ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
index = cento.Index(sys.argv[1], create=True)

def interrupt_soon():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

def endless():
    at = 0
    while True:
        at += 1
        yield (at, f"the text of the document number {at} is not that of any other")
"""

CALLS = {
    "a computation of the library": """
        words = " ".join(str(at) for at in range(1_000_000))
        interrupt_soon()
        cento.compare(words, words[7:], measures=["damerau"])
    """,
    "adding": """
        with index.writer() as w:
            w.add("a", "text")
            interrupt_soon()
            w.add_many(endless())
    """,
    "an iterator that never gives": """
        import itertools
        with index.writer() as w:
            interrupt_soon()
            w.add_many(item for item in itertools.repeat(0) if item)
    """,
    "deduplication": """
        interrupt_soon()
        for item, verdict in cento.dedup(endless(), index=index.path, exact=True):
            pass
    """,
    "searches with passages": """
        words = [f"w{at * at % 1009}" for at in range(2000)]
        texts = [" ".join(words[at:] + words[:at]) for at in range(0, 2000, 100)]
        with index.writer() as w:
            w.add_many(enumerate(texts))
        interrupt_soon()
        for at in range(10**9):
            index.search_many(texts * 50, passages=True)
    """,
    "texts without end": """
        import itertools
        interrupt_soon()
        index.search_many(itertools.repeat("a text"), passages=True)
    """,
    "documents": """
        with index.writer() as w:
            w.add_many((at, f"text {at}") for at in range(100))
        interrupt_soon()
        for at in range(10**9):
            for document in index.documents():
                pass
    """,
    "a wait for a lock": """
        with index.writer():
            interrupt_soon()
            index.open_writer(wait=10**9)
    """,
    "deduplication that waits for a lock": """
        with index.writer():
            interrupt_soon()
            list(cento.dedup(["text"], index=index.path, wait=10**9))
    """,
    "pairs": """
        with index.writer() as w:
            same = "all of these are one and the same text in truth"
            w.add_many((at, same) for at in range(9000))
        interrupt_soon()
        for at in range(10**9):
            for pair in index.pairs(max_df=100_000):
                pass
    """,
}


# The documents of an index that is not empty.
DOCUMENTS = {"searches with passages": 20, "documents": 100, "pairs": 9000}


@pytest.mark.skipif(os.name == "nt", reason="a process is not sent this signal there")
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_ends_a_call_and_changes_nothing(tmp_path: Path, call: str) -> None:
    # None of these calls ends in the life of a test, unless it is interrupted.
    import textwrap

    body = textwrap.dedent(CALLS[call])
    program = BEGINNING + "try:\n" + textwrap.indent(body, "    ")
    program += "except KeyboardInterrupt:\n    print('interrupted')\n"
    path = tmp_path / "i.idx"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n", "", 0)
    index = cento.Index(path)
    assert len(index) == DOCUMENTS.get(call, 0)
    with index.writer() as w:
        w.add("a", "the lock is free")


def test_eight_threads_search_while_another_writes() -> None:
    script = Path(__file__).parent.parent / "bench" / "threads.py"
    queries = os.environ.get("CENTO_QUERIES", "5000")
    done = subprocess.run(
        [sys.executable, str(script), queries], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(done.stdout.split()[0]) >= int(queries)


def count(index: cento.Index, text: str) -> int:
    return len(index.search(text))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_an_index_goes_to_other_processes(
    index: cento.Index, texts: list[tuple[str, str]], method: str
) -> None:
    here = [count(index, text) for _, text in texts]
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.starmap(count, [(index, text) for _, text in texts])
    assert there == here


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_searches_and_is_refused_the_writer_of_its_parent(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    expected = len(index.search(texts[0][1], passages=True))
    read, write = os.pipe()
    with index.writer() as w:
        w.add("new", "text")
        child = os.fork()
        if child == 0:
            # What fails here must not go on as another pytest.
            said = "nothing"
            try:
                found = len(index.search(texts[0][1], passages=True))
                try:
                    w.add("other", "text")
                except cento.InvalidArgumentError as error:
                    said = f"{found} {error}"
                del w
            except BaseException as error:
                said = repr(error)
            finally:
                os.write(write, said.encode())
                os._exit(0)
        os.waitpid(child, 0)
        w.add("newer", "text")
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert said.startswith(f"{expected} this writer was opened by process {os.getpid()}")
    assert "open a writer in the process that writes" in said
    assert len(index) == 42

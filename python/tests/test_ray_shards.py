"""Ray Serve runs shards that answer as one index, whatever happens to them meanwhile."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cento
import cento.ray
import pytest
from cento._ray_shards import RayShard

Texts = list[tuple[str, str]]

OPTIONS: list[dict[str, Any]] = [
    {},
    {"passages": True, "limit": 5},
    {"rank": "weight", "min_containment": 0.3},
    {"rank": "passages", "candidates": 9},
]

SMALL: dict[str, Any] = {"ray_actor_options": {"num_cpus": 0}, "health_check_period_s": 0.5}


@pytest.fixture(scope="module")
def serve() -> Generator[Any, None, None]:
    ray = pytest.importorskip("ray")
    serve = pytest.importorskip("ray.serve")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        yield serve
    finally:
        serve.shutdown()
        ray.shutdown()


@pytest.fixture
def documents(texts: Texts) -> Texts:
    # A phrase that all have is stopped, and makes candidates of all.
    return [(id, f"{text} a phrase that all of the documents have") for id, text in texts]


def made(path: Path, documents: Texts) -> cento.Index:
    index = cento.Index(path, create=True, scheme="winnow(k=3,w=4)", max_df=20)
    with index.writer() as w:
        w.add_many(documents)
    return index


def shown(answer: cento.Answer) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(answer.to_json())
    del read["took_us"]
    return read


def until(is_so: Callable[[], bool]) -> None:
    """Waits for what comes by itself; the test runner ends it otherwise."""
    while not is_so():
        threading.Event().wait(0.1)


def kill(app: str, shard: str) -> int:
    """Kills a replica of a shard."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("finds processes in /proc")
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = place.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"ServeReplica:{app}:{shard}" in title:
            os.kill(int(place.parent.name), signal.SIGKILL)
            return int(place.parent.name)
    raise AssertionError(f"no process is a replica of {shard}")


@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_answer_as_one_index(
    serve: Any, tmp_path: Path, documents: Texts, count: int
) -> None:
    parts = [made(tmp_path / f"part-{at}.idx", documents[at::count]) for at in range(count)]
    # Merged, so that the documents have the same times of addition.
    path = made(tmp_path / "whole.idx", []).path
    cento.merge(path, [part.path for part in parts])
    whole = cento.Index(path)
    head = cento.ray.serve_shards([part.path for part in parts], name=f"of-{count}", **SMALL)
    try:
        for options in OPTIONS:
            for _, text in documents[::13]:
                found = head.search.remote(text, **options).result()
                assert shown(found.answer) == shown(whole.search(text, bytes=True, **options))
                counts = (found.missing, found.documents, len(found.commits))
                assert counts == ((), len(documents), count)
        with pytest.raises(cento.InvalidArgumentError, match="goal"):
            head.search.remote("some words", goal="passage").result()
    finally:
        serve.delete(f"of-{count}")


def test_answers_go_on_while_shards_die_and_change(
    serve: Any, tmp_path: Path, documents: Texts
) -> None:
    text = documents[0][1]
    halves = [documents[at::2] for at in range(2)]
    paths = [Path(made(tmp_path / f"part-{at}.idx", half).path) for at, half in enumerate(halves)]
    link = tmp_path / "second.idx"
    link.symlink_to(paths[1], target_is_directory=True)
    shards = {"first": paths[0], "second": link}
    rules: dict[str, Any] = {"partial": True, "timeout": 5.0, "hedge_after": 0.5}
    head = cento.ray.serve_shards(shards, name="all", replicas=2, **rules, **SMALL)

    def search() -> Any:
        return head.search.remote(text, passages=True).result()

    before = made(tmp_path / "before.idx", documents)
    of_before = shown(before.search(text, bytes=True, passages=True))
    assert shown(search().answer) == of_before

    # A replica is killed: the other answers.
    kill("all", "first")
    for found in [search() for _ in range(5)]:
        assert (found.missing, shown(found.answer)) == ((), of_before)

    # A shard is replaced during searches: each answer is of one of the two states.
    old_commits = search().commits
    copy = f"{text} and more words"
    later = made(tmp_path / "later.idx", [*halves[1], ("copy", copy)])
    after = made(tmp_path / "after.idx", [*documents, ("copy", copy)])
    of_after = shown(after.search(text, bytes=True, passages=True))
    assert of_after != of_before
    done, seen = threading.Event(), list[Any]()

    def search_all() -> None:
        while not done.is_set():
            seen.append(search())

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(search_all) for _ in range(4)]
        try:
            spare = tmp_path / "spare.idx"
            spare.symlink_to(later.path, target_is_directory=True)
            spare.replace(link)
            until(lambda: [one.commits != old_commits for one in seen[-8:]] == [True] * 8)
        finally:
            done.set()
    for each in running:
        each.result()
    assert {one.missing for one in seen} == {()}
    for one in seen:
        assert shown(one.answer) == (of_before if one.commits == old_commits else of_after)

    # A shard without its files does not come back: answers say so, and are those of the other.
    away = tmp_path / "away.idx"
    link.rename(away)
    kill("all", "second")
    until(lambda: len(search().answer) > 0 and _kill_again("all", "second"))
    until(lambda: search().missing == ("second",))
    only = made(tmp_path / "only.idx", halves[0])
    found = search()
    assert shown(found.answer) == shown(only.search(text, bytes=True, passages=True))
    assert (found.missing, found.documents) == (("second",), len(halves[0]))

    # With its files it is searched again.
    away.rename(link)
    until(lambda: search().missing == ())
    assert shown(search().answer) == of_after
    serve.delete("all")


def _kill_again(app: str, shard: str) -> bool:
    """Kills the other replica; whether there was one."""
    kill(app, shard)
    return True


class LateResponse:
    """The response of a replica, which may be late."""

    def __init__(self, answer: Any, is_free: threading.Event) -> None:
        self.answer, self.is_free = answer, is_free

    def result(self, timeout_s: float | None = None) -> Any:
        if not self.is_free.wait(timeout_s):
            raise TimeoutError
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class FakeHandle:
    """A handle that gives these responses, one after the other."""

    def __init__(self, *responses: LateResponse) -> None:
        self.ask, self.responses = self, list(responses)

    def remote(self, *_args: Any, **_options: Any) -> LateResponse:
        return self.responses.pop(0)


def test_a_slow_replica_is_not_waited_for() -> None:
    pytest.importorskip("ray.exceptions")
    never, now = threading.Event(), threading.Event()
    now.set()
    calls: dict[str, Any] = {"timeout": 60.0, "hedge_after": 0.01}
    handle = FakeHandle(LateResponse({"hits": [1]}, never), LateResponse({"hits": [2]}, now))
    shard = RayShard("one", handle, **calls)
    assert shard.spans({}, {}) == {"hits": [2]}
    never.set()
    # A failure is no answer while another call may give one.
    lost = ConnectionError("it was killed")
    late = threading.Event()
    handle = FakeHandle(LateResponse({"hits": [1]}, late), LateResponse(lost, now))
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(RayShard("one", handle, **calls).spans, {}, {})
        until(lambda: not handle.responses)
        late.set()
        assert asked.result() == {"hits": [1]}
    calls["timeout"] = 0.01
    handle = FakeHandle(*[LateResponse({}, threading.Event()) for _ in range(2)])
    with pytest.raises(ConnectionError, match="one gave no answer within"):
        RayShard("one", handle, **calls).spans({}, {})

"""The program that users of other libraries would write, whole, as its design has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import cento
ix = cento.Index("corpus.idx", create=True, scheme="winnow(k=5,w=10)")
with ix.writer() as w:
    w.add("a.txt", text, meta={"lang": "en"})
    w.add_many({"id": i, "text": t} for i, t in rows)
    w.add_arrow(pq.ParquetFile("x.parquet").iter_batches(), id="url", text="content")
    w.add_arrow(load_dataset("imdb")["train"].with_format("arrow"), text="text")
    w.remove("old.txt")
for h in ix.search(text, limit=5, min_containment=0.3, passages=True):
    print(h.id, h.containment_of_a, h.resemblance, h.meta)
    for p in h.passages: print(p.a, p.b, p.similarity)
table = ix.search_many(texts, to_arrow=True)
keep = [d for d, v in cento.dedup(ds, min_resemblance=0.8, index="kept.idx") if v.kept]
filtered = ds.filter(cento.Deduper("kept2.idx", min_resemblance=0.8).keep, batched=True)
found = []
for a, b, r in ix.pairs(min_resemblance=0.8): found.append((a, b, r))
sig = cento.sign(text, scheme="winnow(k=5,w=10)"); by_signature = ix.search(signature=sig)
merged = cento.merge("all.idx", ["s0.idx", "s1.idx"])
"""


def test_the_program_of_the_design_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[int, int], list[str]]
) -> None:
    import cento

    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    bodies = [" ".join(made(80, at)) for at in range(40)]
    near = bodies[0].split(" ")
    near[40] = "otherwise"
    table = pa.table(
        {"url": [f"https://x/{at}" for at in range(10)], "content": bodies[10:20]},
    )
    pq.write_table(table, "x.parquet", row_group_size=3)
    for at in range(2):
        with cento.Index(f"s{at}.idx", create=True).writer() as w:
            w.add_many((f"shard-{at}-{row}", bodies[20 + 2 * row + at]) for row in range(5))
    reviews = datasets.Dataset.from_dict({"text": [*bodies[30:40], bodies[31]], "label": [1] * 11})

    def load_dataset(name: str) -> dict[str, Any]:
        assert name == "imdb"
        return {"train": reviews}

    names: dict[str, Any] = {
        "pq": pq,
        "load_dataset": load_dataset,
        "text": " ".join(near),
        "texts": bodies[:12],
        "rows": list(enumerate(bodies[:10])),
        "ds": reviews,
    }
    exec(compile(PROGRAM, "the program", "exec"), names)

    index: cento.Index = names["ix"]
    assert len(index) == 1 + 10 + 10 + 11
    assert {"a.txt", "0", "9", "https://x/0", "row/0", "row/10"} <= set(index.ids())
    text: str = names["text"]
    assert [hit.id for hit in index.search(text)] == ["a.txt", "0"]
    assert list(names["by_signature"]) == list(index.search(text))
    assert pa.table(names["table"])["id"].to_pylist()[:2] == ["0", "a.txt"]
    assert [row["text"] for row in names["keep"]] == bodies[30:40]
    assert names["filtered"]["text"][:] == bodies[30:40]
    pairs = {frozenset(pair[:2]) for pair in names["found"]}
    assert pairs == {frozenset(["row/1", "row/10"]), frozenset(["0", "a.txt"])}
    assert names["merged"].documents == 10


def test_numbers_of_rows_replace_no_other_document(
    tmp_path: Path, made: Callable[[int, int], list[str]]
) -> None:
    import cento

    pa = pytest.importorskip("pyarrow")
    one, other = (pa.table({"text": [" ".join(made(50, at))]}) for at in (1, 2))
    index = cento.Index(tmp_path / "i", create=True)
    with index.writer() as w:
        assert w.add_arrow(one).added == 1
        assert w.add_arrow(one).unchanged == 1
    said = "row/0: it has no id, and its number is the id of another"
    with pytest.raises(cento.InputError, match=said), index.writer() as w:
        w.add_arrow(other)
    with index.writer() as w:
        assert w.add_arrow(one).unchanged == 1
        assert w.add_arrow(other, id_prefix="other/").added == 1
    assert sorted(index.ids()) == ["other/0", "row/0"]

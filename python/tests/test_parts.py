"""Documents with parts: the files of a submission, the chapters of a book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cento
import pytest


def test_a_document_has_the_parts_that_it_was_added_with(empty: cento.Index) -> None:
    files = [("Main.java", "class Main {}"), ("src/Tree.java", "class Tree {}")]
    with empty.writer() as w:
        assert w.add("ann", parts=files) == "added"
        rows: list[Any] = [
            {"id": "ben", "parts": [{"name": n, "text": t} for n, t in files], "meta": {"y": 1}},
            {"id": "cy", "text": "a text", "parts": 5},
        ]
        assert w.add_many(rows).added == 2
    found = empty.get("ann")
    assert found is not None
    assert found.text == "class Main {}\nclass Tree {}"
    assert found.parts == tuple(files)
    assert found.parts[1].name == "src/Tree.java"
    ben, cy = empty.get("ben"), empty.get("cy")
    assert ben is not None
    assert cy is not None
    assert (ben.parts, ben.meta) == (found.parts, {"y": 1})
    assert cy.parts == (), "a foreign record may have such a field beside its text"
    with empty.writer() as w:
        # A document that is read and added again is the same.
        assert w.add(found.id, parts=list(found.parts)) == "unchanged"
        other = [("Main.java", "class Main {}"), ("Tree.java", "class Tree {}")]
        assert w.add("ann", parts=other) == "replaced"


def test_an_index_without_texts_has_the_names_of_parts(tmp_path: Path) -> None:
    index = cento.Index(tmp_path / "idx", create=True, store_text=False)
    with index.writer() as w:
        w.add("ann", parts=[("a", "some words"), ("b", "some more")])
    found = index.get("ann")
    assert found is not None
    assert found.parts == (("a", None), ("b", None))


def test_a_passage_names_its_parts(empty: cento.Index, made: Any) -> None:
    own, copied = " ".join(made(60, 1)), " ".join(made(60, 2))
    with empty.writer() as w:
        w.add("old", parts=[("one.txt", own), ("two.txt", f"größe\n{copied}")])
        w.add("new", parts=[("x.txt", " ".join(made(60, 3))), ("y.txt", copied)])
    (hit,) = empty.search(id="new", passages=True)
    (passage,) = hit.passages
    assert (passage.a_part, passage.b_part) == ("y.txt", "two.txt")
    assert (passage.a_line, passage.b_line) == (None, 2)
    old = empty.get("old")
    assert old is not None
    assert old.text is not None
    assert old.text[slice(*passage.b)] == copied
    (pair,) = empty.pairs(passages=True)
    (of_pair,) = pair.passages
    parts = {pair.a: of_pair.a_part, pair.b: of_pair.b_part}
    assert parts == {"old": "two.txt", "new": "y.txt"}
    plain = cento.compare(copied, copied).passages[0]
    assert (plain.a_part, plain.b_part) == (None, None)


def test_passages_of_a_query_of_parts_name_them(empty: cento.Index, made: Any) -> None:
    own, copied = " ".join(made(60, 1)), " ".join(made(60, 2))
    with empty.writer() as w:
        w.add("old", parts=[("one.txt", " ".join(made(60, 3))), ("two.txt", copied)])
    parts = [("x.txt", f"größe {own}"), ("y.txt", copied)]
    answer = empty.search(parts=parts, passages=True)
    (passage,) = answer[0].passages
    assert (passage.a_part, passage.b_part) == ("y.txt", "two.txt")
    joined = "\n".join(text for _, text in parts)
    assert joined[slice(*passage.a)] == copied
    page = answer._repr_html_()
    assert "y.txt" in page
    assert "x.txt" in page
    many: list[Any] = [copied, parts, [{"name": "z.txt", "text": copied}]]
    answers = empty.search_many(many, passages=True)
    names = [answer[0].passages[0].a_part for answer in answers]
    assert names == [None, "y.txt", "z.txt"]
    assert answers[1][0] == answer[0]
    many[2] = [("", copied)]
    answers = empty.search_many(many, on_error="skip", passages=True)
    assert [len(answer) for answer in answers] == [1, 1, 0]
    assert [each.number for each in answers.refusals] == [2]
    assert "the name of its part 1 is empty" in answers.refusals[0].reason


def test_events_of_a_watch_of_parts_name_them(empty: cento.Index, made: Any) -> None:
    parts = [(name, " ".join(made(60, seed))) for seed, name in enumerate(["x.txt", "y.txt"])]
    watch = empty.watches.add(parts=parts, name="own")
    assert watch.kind == "text"
    joined = "\n".join(text for _, text in parts)
    assert watch.fingerprints == len(empty.sign(joined).keys)
    assert empty.watches.add(parts=parts, name="own") == watch
    assert [w.name for w in empty.watches.add_many([("many", parts[:1])])] == ["many"]
    with empty.writer() as w:
        w.add("copy", parts=[("a", " ".join(made(60, 5))), ("b", parts[1][1])])
    (event,) = empty.watches.events()
    (passage,) = event.hit.passages
    assert (event.watch, passage.a_part, passage.b_part) == ("own", "y.txt", "b")


def test_a_table_of_hits_names_the_parts_of_passages(empty: cento.Index, made: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    text = " ".join(made(60, 1))
    with empty.writer() as w:
        w.add("parted", parts=[("a", " ".join(made(60, 2))), ("b", text)])
        w.add("plain", text)
    hits = pa.table(empty.search_many([text], passages=True, to_arrow=True)).to_pylist()
    parts = {hit["id"]: [p["b_part"] for p in hit["passages"]] for hit in hits}
    assert parts == {"parted": ["b"], "plain": [None]}
    assert all(p["a_part"] is None for hit in hits for p in hit["passages"])


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        (5, "its parts are a int, not a list"),
        ("text", "its parts are a str, not a list"),
        ([], "its list of parts is empty"),
        ([("a", "x"), ("a", "y")], 'two of its parts have the name "a"'),
        ([("", "x")], "the name of its part 1 is empty"),
        ([("a", 5)], "the text of a part is a int, not a str"),
        ([{"name": "a"}], "a part of it has no `text`"),
        (["a"], "a part of it is a str"),
        ([("a", "x", "y")], "a part of it is a tuple"),
    ],
)
def test_what_is_no_list_of_parts_is_refused(empty: cento.Index, parts: Any, what: str) -> None:
    with empty.writer() as w:
        with pytest.raises(cento.InputError) as raised:
            w.add("a", parts=parts)
        assert what in str(raised.value)
        with pytest.raises(cento.InputError, match="item 0"):
            w.add_many([{"id": "a", "parts": parts}])
        with pytest.raises(cento.InvalidArgumentError, match="one of them"):
            w.add("a", "text", parts=[("a", "x")])
        with pytest.raises(cento.InvalidArgumentError, match="one of them"):
            w.add("a")
    assert len(empty) == 0
    for add in (empty.search, empty.watches.add):
        with pytest.raises(cento.InputError) as raised:
            add(parts=parts)
        assert what in str(raised.value)
        with pytest.raises(cento.InvalidArgumentError, match="one of them"):
            add("text", parts=[("a", "x")])


def test_documents_with_parts_are_deduplicated(tmp_path: Path, made: Any) -> None:
    parts = [("a", " ".join(made(60, 1))), ("b", " ".join(made(60, 2)))]
    path = tmp_path / "kept.idx"
    items = [{"id": id, "parts": parts} for id in ("one", "two")]
    found = [verdict.kind for _, verdict in cento.dedup(items, index=path)]
    assert found == ["kept", "exact"]
    kept = cento.Index(path).get("one")
    assert kept is not None
    assert kept.parts == tuple(parts)


def test_a_column_of_parts_makes_documents_of_them(empty: cento.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    files = [("Main.java", "class Main {}"), ("src/Größe.java", "class Größe {}")]
    parts = [{"name": name, "text": text, "language": "java"} for name, text in files]
    rows: dict[str, Any] = {"id": ["ann", "ben", "cy"], "parts": [parts, None, parts[:1]]}
    rows["text"] = [None, "a text", "a text beside them"]
    table = pa.table(rows)
    kind = table.schema.field("parts").type
    forms = [
        table,
        table.drop_columns("text").take([0]),
        table.set_column(1, "parts", table["parts"].cast(pa.large_list(kind.value_type))),
        table.slice(0, 1).set_column(1, "parts", pa.array([parts], pa.list_(kind.value_type, 2))),
    ]
    with empty.writer() as w:
        for at, form in enumerate(forms):
            report = w.add_arrow(form)
            changed = (3, 0) if at == 0 else (0, len(form))
            assert (report.added, report.unchanged) == changed, at
    found = empty.get("ann")
    assert found is not None
    assert (found.text, found.parts) == ("class Main {}\nclass Größe {}", tuple(files))
    beside = empty.get("cy")
    assert beside is not None
    assert (beside.text, beside.parts) == ("a text beside them", ())


def test_rows_without_parts_or_text_are_refused_by_name(empty: cento.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    kind = pa.list_(pa.struct([("name", pa.string()), ("text", pa.string())]))
    bad: list[tuple[Any, str]] = [
        (None, "there is no `text`"),
        ([], "its list of parts is empty"),
        ([{"name": "a"}], "a part of it has no `text`"),
        ([None], "a part of it has no `name`"),
        ([{"name": "a", "text": "x"}] * 2, 'two of its parts have the name "a"'),
    ]
    parts = pa.array([parts for parts, _ in bad], kind)
    table = pa.table({"id": [str(at) for at in range(len(bad))], "parts": parts})
    with empty.writer() as w:
        report = w.add_arrow(table, on_error="skip")
        assert len(report.refusals) == len(bad)
        for each, (_, what) in zip(report.refusals, bad, strict=True):
            assert what in each.reason, each
        foreign = pa.table({"id": ["a"], "text": ["a text"], "parts": [["x"]]})
        assert w.add_arrow(foreign).added == 1
        with pytest.raises(cento.InputError, match="no column `text`"):
            w.add_arrow(foreign.drop_columns("text"))
        none = {"id": "n", "text": None, "parts": [("a", "x")]}
        assert w.add_many([none]).added == 1, "as a line of JSON with null is read"


def test_rows_with_parts_are_deduplicated(made: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    one, two, three = (" ".join(made(60, seed)) for seed in (1, 2, 3))
    rows: list[dict[str, Any]] = [
        {"id": "first", "text": None, "parts": [{"name": "a", "text": one}]},
        {"id": "same", "text": None, "parts": [{"name": "a", "text": one}]},
        {"id": "plain", "text": f"{three} {two}", "parts": None},
        {
            "id": "cut",
            "text": None,
            "parts": [
                {"name": "x", "text": " ".join(made(60, 4))},
                {"name": "y", "text": f"{' '.join(made(60, 5))} {one}"},
            ],
        },
        {"id": "text", "text": f"{' '.join(made(60, 6))} {two}", "parts": None},
    ]
    table = pa.Table.from_pylist(rows)
    kept = pa.table(cento.dedup_arrow(table, cut_passages=20))
    assert kept.schema == table.schema
    found = {row["id"]: row for row in kept.to_pylist()}
    assert list(found) == ["first", "plain", "cut", "text"]
    assert found["first"] == rows[0]
    parts = found["cut"]["parts"]
    assert [part["name"] for part in parts] == ["x", "y"]
    assert (found["cut"]["text"], parts[0]) == (None, rows[3]["parts"][0])
    assert parts[1]["text"] == " ".join(made(60, 5))
    assert found["text"]["text"] == " ".join(made(60, 6))

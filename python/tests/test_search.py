"""Searches, and their representations."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import cento
import pytest


def test_passages_index_the_text_that_was_given(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    stored = dict(texts)
    query = "größer 日本 🦉 und mehr: " + stored["doc-6"][200:700] + " ∎ and the rest"
    answer = index.search(query, passages=True)
    assert answer[0].id in ("doc-6", "doc-7")
    for hit in answer:
        for passage in hit.passages:
            assert passage.unit == "characters"
            ours, theirs = (
                query[slice(*passage.a)],
                stored[hit.id][slice(*passage.b)],
            )
            if passage.similarity == 1.0:
                assert ours == theirs
    in_bytes = index.search(query, passages=True, bytes=True)
    assert len(in_bytes[0].passages) == len(answer[0].passages)
    for in_characters, in_utf8 in zip(answer[0].passages, in_bytes[0].passages, strict=True):
        assert in_utf8.unit == "bytes"
        for text, a, b in [
            (query, in_characters.a, in_utf8.a),
            (stored[answer[0].id], in_characters.b, in_utf8.b),
        ]:
            assert a != b
            assert text[slice(*a)] == text.encode()[slice(*b)].decode()
    # The form of other programs has bytes in any case.
    assert answer.to_json().split('"took_us"')[0] == in_bytes.to_json().split('"took_us"')[0]


def test_without_texts_passages_are_of_tokens(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    index = cento.Index(tmp_path / "i", create=True, store_text=False)
    with index.writer() as w:
        w.add_many(texts)
    answer = index.search(texts[0][1], passages=True)
    assert answer[0].passages[0].unit == "tokens"
    assert index.get("doc-0") == cento.Document("doc-0", None, {})


def test_a_query_is_a_text_a_document_or_a_signature(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    by_text = index.search(texts[2][1])
    assert by_text[0].id == "doc-2"
    assert by_text[0].containment_of_a == 1.0
    by_id = index.search(id="doc-2")
    assert by_id.id == "doc-2"
    assert list(by_id) == list(by_text)[1:]
    signature = cento.sign(texts[2][1])
    assert signature == index.sign(texts[2][1])
    assert list(index.search(signature=signature)) == list(by_text)
    assert signature.keys == {key for key, _ in signature.fingerprints}
    other = cento.sign(texts[2][1], scheme="winnow(k=4,w=8)")
    with pytest.raises(cento.InvalidArgumentError, match=r"winnow\(k=4,w=8\)"):
        index.search(signature=other)
    with pytest.raises(cento.InvalidArgumentError, match="one of them"):
        index.search()
    with pytest.raises(cento.InvalidArgumentError, match="one of them"):
        index.search("a", id="b")
    with pytest.raises(cento.UnknownIdError) as raised:
        index.search(id="nowhere")
    assert raised.value.id == "nowhere"
    assert isinstance(raised.value, LookupError)


def test_thresholds_and_order(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    text = texts[3][1]
    every = index.search(text, limit=100)
    assert len(index.search(text, limit=1)) == 1
    least = index.search(text, min_resemblance=0.5)
    assert [hit.id for hit in least] == [hit.id for hit in every if hit.resemblance >= 0.5]
    assert all(hit.overlap >= 3 for hit in index.search(text, min_overlap=3))
    weighed = index.search(text, rank="weight")[0].weighted
    assert weighed is not None
    assert weighed.containment_of_a == 1.0
    ranked = index.search(text, rank="passages", passages=True)[0]
    assert ranked.passage_tokens == sum(passage.tokens for passage in ranked.passages)
    verified = index.search(text, verify="levenshtein", min_similarity=0.9)
    assert verified[0].similarity == 1.0
    traced = index.search(text, goal="trace")
    assert traced.trace is not None
    assert (traced.trace.new, traced[0].adds) == (0.0, traced.trace.size)
    assert [text[slice(*span.a)] for span in traced.trace.spans] == [
        span.text for span in traced.trace.spans
    ]
    assert traced.trace.containing is None
    assert index.search(text).trace is None
    for wrong in [{"min_containment": 1.5}, {"rank": "best"}, {"limit": -1}, {"max_df": "x"}]:
        with pytest.raises(cento.Error):
            index.search(text, **wrong)  # type: ignore[arg-type]


def test_filters_are_of_meta(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    with empty.writer() as w:
        w.add_many((id, texts[0][1], {"n": at}) for at, (id, _) in enumerate(texts))
    found = empty.search(texts[0][1], filter="n:[3 TO 5]")
    assert {hit.meta["n"] for hit in found} == {3, 4, 5}
    with pytest.raises(cento.InvalidArgumentError):
        empty.search(texts[0][1], filter="n:[3 TO")
    with pytest.raises(cento.InvalidArgumentError, match="the fields there are `n`"):
        empty.search(texts[0][1], filter="N:3")


def test_many_searches_are_as_many_answers(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    queries = [text for _, text in texts] * 5
    for threads in (1, 3):
        found = index.search_many(iter(queries), threads=threads, passages=True)
        one_by_one = [index.search(text, passages=True) for text in queries]
        assert [list(answer) for answer in found] == [list(answer) for answer in one_by_one]
    assert not index.search_many([])
    with pytest.raises(cento.InputError, match="text 1: the text is a NoneType"):
        index.search_many(["a", None])  # type: ignore[list-item]


def test_answers_of_many_searches_are_a_sequence(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    found = index.search_many([text for _, text in texts[:4]])
    assert [answer.hits[0].id for answer in found] == [id for id, _ in texts[:4]]
    assert found[-1] is found[3]
    assert [answer.hits for answer in found[1:3]] == [found[1].hits, found[2].hits]
    for at in (4, -5):
        with pytest.raises(IndexError):
            found[at]
    assert repr(found) == f"<Answers: 4, {sum(len(answer.hits) for answer in found)} hits>"


def test_a_hit_has_every_field(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    meta: dict[str, Any] = {
        "n": [1, -2, 2**63, 0.5, None, True],
        "of": {"x": "\N{EURO SIGN}", "no": {}},
    }
    with empty.writer() as w:
        w.add_many((id, text, meta) for id, text in texts)
    options: dict[str, Any] = {"passages": True, "bytes": True}
    options["verify"] = "resemblance(k=3)"
    cases: list[dict[str, Any]] = [
        {"min_weighted_containment": 0.01},
        {"goal": "trace"},
        {"rank": "passages"},
    ]
    for more in cases:
        answer = empty.search(texts[0][1], **options, **more)
        said = json.loads(answer.to_json())
        assert len(answer) == len(said["hits"]) > 0
        query = said["query"]
        assert (answer.id, answer.tokens) == (query["id"], query["tokens"])
        assert (answer.fingerprints, answer.stopped) == (query["fingerprints"], query["stopped"])
        assert answer.complete == said["complete"]
        trace = answer.trace
        assert (None if trace is None else trace.new) == said.get("trace", {}).get("new")
        assert (answer.more, answer.total) == (said["more"], said.get("total"))
        assert answer.took_us == said["took_us"]
        for hit, line in zip(answer, said["hits"], strict=True):
            assert hit.meta == line["meta"] == meta
            for name in (
                "id",
                "overlap",
                "containment_of_a",
                "containment_of_b",
                "resemblance",
            ):
                assert getattr(hit, name) == line[name]
            for name in ("passage_tokens", "adds", "passages_complete"):
                assert getattr(hit, name) == line.get(name)
            assert hit.similarity == line["verified"]["similarity"]
            assert (hit.standard_error, hit.exact) == (line["standard_error"], line["exact"])
            assert (hit.weighted is None) == ("weighted" not in line)
            if hit.weighted is not None:
                weighted = line["weighted"]
                assert hit.weighted.containment_of_a == weighted["containment_of_a"]
                assert hit.weighted.containment_of_b == weighted["containment_of_b"]
                assert hit.weighted.resemblance == weighted["resemblance"]
            assert [(*p.a, *p.b, p.tokens, p.matched, p.similarity) for p in hit.passages] == [
                (*p["a"], *p["b"], p["tokens"], p["matched"], p["similarity"])
                for p in line["passages"]
            ]


def test_what_is_no_text_is_no_query(index: cento.Index) -> None:
    with pytest.raises(cento.InputError):
        index.search("\0" * 100)
    with pytest.raises(cento.InputError, match="surrogate"):
        index.search("\udcff")


def test_html_is_escaped(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    text = texts[0][1]
    with empty.writer() as w:
        w.add("<script>alert(1)</script>", text + " <b>", {"<i>": "<u>"})
    shown: list[Any] = [
        empty.search(text, passages=True),
        empty.search(text)[0],
        cento.compare(f"<b>{text}", f"<b>{text}"),
        empty,
    ]
    for each in shown:
        html = each._repr_html_()
        assert "<table>" in html
        for tag in ("<script>", "<b>", "<i>", "<u>"):
            assert tag not in html
    assert "<script>" in repr(empty.search(text))


def test_pairs_and_clusters(index: cento.Index) -> None:
    pairs = list(index.pairs(min_resemblance=0.5))
    assert [(pair.a, pair.b) for pair in pairs] == [
        (f"doc-{at - 1}", f"doc-{at}") for at in range(3, 40, 4)
    ]
    for a, b, resemblance in index.pairs(min_resemblance=0.5):
        assert a < b or len(a) < len(b)
        assert resemblance >= 0.5
    with_passages = next(index.pairs(min_resemblance=0.5, passages=True))
    text = index.get(with_passages.a)
    assert text is not None
    assert text.text is not None
    assert text.text[slice(*with_passages.passages[0].a)].startswith(text.text[:20])
    clusters = index.clusters(min_resemblance=0.5)
    assert len(clusters) == 10
    assert all(cluster.size == 2 for cluster in clusters)
    assert json.loads(clusters[0].to_json())["size"] == 2
    assert list(index.pairs(against=index, min_resemblance=1.0, min_overlap=1))
    with pytest.raises(cento.InvalidArgumentError, match="cannot be combined"):
        index.pairs(within="a", group_by="b")


def test_a_field_that_no_document_has_is_an_error_and_others_are_counted(
    tmp_path: Path, made: Any
) -> None:
    text = " ".join(made(60, 1))
    index = cento.Index(tmp_path / "series.idx", create=True)
    with index.writer() as w:
        w.add("a", text, {"series": "gazette"})
        w.add("b", text, {"series": "herald"})
        w.add("c", text, {})
    with pytest.raises(ValueError, match=r"the field `sereis`.*`series`"):
        list(index.pairs(group_by="sereis"))
    with pytest.warns(UserWarning, match="1 documents do not have the field `series`"):
        assert len(list(index.pairs(group_by="series"))) == 3


def test_a_length_of_passages_is_the_only_threshold_if_it_is_given(
    tmp_path: Path, made: Any
) -> None:
    quoted = " ".join(made(60, 1))
    index = cento.Index(tmp_path / "long.idx", create=True)
    with index.writer() as w:
        for at in (2, 3):
            around = " ".join(made(900, at)), " ".join(made(900, at + 5))
            w.add(str(at), f"{around[0]} {quoted} {around[1]}")
    assert not list(index.pairs())
    assert len(list(index.pairs(min_passage=40))) == 1


def test_parts_of_pairs_are_all_pairs(index: cento.Index) -> None:
    whole = [pair.to_json() for pair in index.pairs(min_overlap=1)]
    assert len(whole) >= 10
    for of in (1, 2, 7, 40, 100):
        parts = [list(index.pairs(min_overlap=1, part=(at, of), threads=2)) for at in range(of)]
        assert [pair.to_json() for part in parts for pair in part] == whole
    for wrong in [(1, 1), (0, 0), (-1, 2)]:
        with pytest.raises(cento.InvalidArgumentError, match="`part`"):
            index.pairs(part=wrong)
    with pytest.raises(cento.InvalidArgumentError, match="not those of all"):
        index.pairs(part=(0, 2), rank="overlap")


def test_pairs_that_nobody_reads_on_end(index: cento.Index) -> None:
    for _ in range(20):
        first = next(index.pairs(min_overlap=1))
        assert first.overlap >= 1


def test_comparison(texts: list[tuple[str, str]]) -> None:
    a, b = texts[2][1], "ü " + texts[3][1]
    found = cento.compare(a, b, measures=["levenshtein", "cosine"])
    assert set(found.measures) == {"levenshtein", "cosine"}
    assert found.overlap > 5
    ours, theirs = a[slice(*found.passages[0].a)], b[slice(*found.passages[0].b)]
    assert ours[:200] == theirs[:200]
    assert ours[-200:] == theirs[-200:]
    assert json.loads(found.to_json())["overlap"] == found.overlap
    with pytest.raises(cento.SpecError, match="leven"):
        cento.compare(a, b, measures=["leven"])


def test_threads_search_while_another_writes(
    empty: cento.Index, texts: list[tuple[str, str]]
) -> None:
    with empty.writer() as w:
        w.add_many(texts)
    wrong: list[object] = []
    done = threading.Event()

    def search(at: int) -> None:
        id, text = texts[at]
        while not done.is_set():
            try:
                found = {hit.id: hit.containment_of_a for hit in empty.search(text)}
                if found.get(id) != 1.0:
                    wrong.append((id, found))
            except BaseException as error:
                wrong.append(error)
                return

    threads = [threading.Thread(target=search, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for batch in range(20):
        with empty.writer() as w:
            w.add_many((f"other-{batch}-{id}", f"{batch} {text}") for id, text in texts[8:])
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(empty) == 40 + 20 * 32


def test_what_a_reader_does_not_see_is_counted(tmp_path: Path) -> None:
    plain = "the river ferry at the old bridge carried farmers and sheep"
    hidden = plain.replace("farmers", "f\u0430rmers").replace("e", "e\u200b")
    index = cento.Index(tmp_path / "idx", create=True)
    with index.writer() as writer:
        writer.add("a", plain)
    seen = cento.Unseen()
    assert index.search(plain).unseen == seen
    found = index.search(hidden).unseen
    assert (found.hidden_characters > 5, found.mixed_words) == (True, 1)
    assert cento.compare(plain, hidden).unseen == (seen, found)
    assert cento.compare(plain, plain).unseen == (seen, seen)


def test_excluded_documents_are_no_hits(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    text = texts[3][1]
    found = [hit.id for hit in index.search(text, limit=100)]
    excluded = [found[0], "nobody"]
    left = [hit.id for hit in index.search(text, limit=100, exclude_id=excluded)]
    assert left == found[1:]
    many = index.search_many([text], limit=100, exclude_id=excluded)
    assert [hit.id for hit in many[0]] == left
    goals: list[cento.Goal] = ["trace", "passage"]
    for goal in goals:
        assert found[0] in [hit.id for hit in index.search(text, goal=goal)]
        assert found[0] not in [
            hit.id for hit in index.search(text, goal=goal, exclude_id=excluded)
        ]


def test_a_keyword_that_is_no_option_is_refused(index: cento.Index) -> None:
    with pytest.raises(
        TypeError, match=r"search\(\) got an unexpected keyword argument 'min_resemblence'"
    ):
        index.search("a", min_resemblence=0.5)  # type: ignore[call-arg]
    with pytest.raises(
        TypeError, match=r"search_many\(\) got an unexpected keyword argument 'best'"
    ):
        index.search_many(["a"], best=True)  # type: ignore[call-overload]
    with pytest.raises(cento.InvalidArgumentError, match=r"`limit`: .*whole number"):
        index.search("a", limit=-1)
    with pytest.raises(
        cento.InvalidArgumentError, match="`min_containment` must be a number from 0 to 1"
    ):
        index.search("a", min_containment=1.5)

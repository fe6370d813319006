"""Questions of benchmarks in documents."""

from __future__ import annotations

import pickle
from typing import Any

import cento
import cento.datatrove
import pytest

PLANET = "Which planet of the solar system has the most moons of all in the year 2023?"
QUESTIONS = [
    {"id": "a", "question": PLANET, "answer": "Saturn", "benchmark": "space"},
    {"question": "Where does the river that runs through the city of Turin come to its end?"},
    {"question": "Why not?"},
]


def test_questions_are_found_with_their_places() -> None:
    benchmarks = cento.Benchmarks(QUESTIONS)
    assert len(benchmarks) == 3
    (short,) = benchmarks.unusable
    assert (short.benchmark, short.question) == ("", "2")
    assert "fewer words than a run" in short.reason
    around = "\u00e9\u00e9 words around it. "
    documents = [
        {"id": 1, "text": around + PLANET.upper() + " Saturn."},
        {"id": 2, "text": around},
        {"id": 3, "text": PLANET.replace(" ", "\n")},
    ]
    found = list(cento.decontaminate(documents, benchmarks, threads=2))
    assert [item["id"] for item, _ in found] == [1, 2, 3]
    assert [len(findings) for _, findings in found] == [1, 0, 1]
    (first,) = found[0][1]
    assert (first.benchmark, first.question, first.share) == ("space", "a", 1.0)
    start, end = first.place
    assert str(documents[0]["text"])[start:end] == PLANET.upper()[:-1]
    assert first.answer is True
    assert found[2][1][0].answer is False
    (in_bytes,) = benchmarks.find([str(documents[0]["text"])], bytes=True)[0]
    assert in_bytes.place == (start + 2, end + 2)


def test_words_that_documents_have_from_elsewhere_are_common() -> None:
    sentence = " ".join(f"s{at}" for at in range(24))
    question = f"who wrote this famous sentence in a letter {sentence} give the name of the author"
    benchmarks = cento.Benchmarks([question])
    around = [[f"w{number}x{at}" for at in range(20)] for number in range(11)]
    texts = [sentence] * 10 + [question]
    documents = [
        " ".join([*words[:10], text, *words[10:]])
        for words, text in zip(around, texts, strict=True)
    ]
    found = [findings for _, findings in cento.decontaminate(documents, benchmarks)]
    assert [findings[0].common for findings in found] == [None] * 11
    weighed = benchmarks.weigh(found)
    assert [findings[0].common for findings in weighed] == [True] * 10 + [False]
    assert {findings[0].carriers for findings in weighed} == {11}
    assert weighed[10][0].own_share == 1.0
    assert benchmarks.weigh([(), ()]) == [(), ()]


def test_a_question_has_its_choices_as_with_the_command() -> None:
    rows: list[dict[str, Any]] = [
        {"id": None, "question": PLANET, "choices": ["Jupiter", {"t": "Saturn"}], "answer": 1},
        {"id": "1", "question": "Which?", "choices": [], "answer": ["all", 7.5]},
        {"id": "1", "question": "", "choices": None, "benchmark": "other"},
    ]
    benchmarks = cento.Benchmarks(rows, question=["question", "choices"])
    ids = [(each.benchmark, each.question) for each in benchmarks.unusable]
    assert ids == [("", "1"), ("other", "1")], "ids are unique within a benchmark only"
    text = f"{PLANET} a) Jupiter b) Saturn"
    (finding,) = benchmarks.find([text])[0]
    # The letters before the choices are not words of them.
    assert (finding.question, finding.answer, finding.share) == ("0", None, 1)
    (whole,) = benchmarks.find([text.replace("a) ", "").replace("b) ", "")])[0]
    assert whole.share == 1
    with pytest.raises(cento.InputError, match="question 0: there is no 'choices'"):
        cento.Benchmarks([{"question": PLANET}], question=["question", "choices"])
    with pytest.raises(cento.InvalidArgumentError, match="no key"):
        cento.Benchmarks(rows, question=[])


def test_a_question_may_be_a_list_of_texts() -> None:
    # The command reads such a record as one question, and so does the class.
    rows: list[dict[str, Any]] = [{"question": ["Think well.", {"text": PLANET}]}]
    benchmarks = cento.Benchmarks(rows)
    assert len(benchmarks) == 1
    (finding,) = benchmarks.find([f"Think well. {PLANET}"])[0]
    assert (finding.question, finding.share) == ("0", 1)
    for question in (None, [], 7, {"text": None}):
        with pytest.raises(cento.InputError, match="there is no 'question' with a text"):
            cento.Benchmarks([{"question": question}])


def test_labels_of_choices_are_no_words_of_a_question() -> None:
    choices = {"text": ["whale", "trout"], "label": ["A", "B"]}
    benchmarks = cento.Benchmarks(
        [{"question": PLANET, "choices": choices}], question=["question", "choices"]
    )
    for text in (f"{PLANET}\n(A) whale\n(B) trout", f"{PLANET} whale, trout"):
        (finding,) = benchmarks.find([text])[0]
        assert finding.share == 1


def test_each_place_of_a_question_is_a_finding() -> None:
    text = f"One: {PLANET} Two: {PLANET}"
    places = [finding.place[0] for finding in cento.Benchmarks([PLANET]).find([text])[0]]
    assert places == [text.index(PLANET), text.rindex(PLANET)]


def test_an_id_names_one_question_of_a_benchmark() -> None:
    rows = [{"id": "a", "question": PLANET}, {"id": "a", "question": "another"}]
    with pytest.raises(cento.InputError, match="question 1: its id is 'a', as that of question 0"):
        cento.Benchmarks(rows)
    named = [{**row, "benchmark": str(number)} for number, row in enumerate(rows)]
    assert len(cento.Benchmarks(named)) == 2


class _Document:
    def __init__(self, text: str) -> None:
        self.text = text


def test_a_step_for_datatrove_drops_documents_with_questions() -> None:
    step = cento.datatrove.Decontaminate(pickle.loads(pickle.dumps(cento.Benchmarks(QUESTIONS))))
    texts = ["a text without any of them", PLANET, f"quiz: {PLANET}", "Why not?"]
    kept = [document.text for document in step(_Document(text) for text in texts)]
    assert kept == [texts[0], texts[3]]


def test_options_decide() -> None:
    part = PLANET[:50]
    assert len(cento.Benchmarks([PLANET]).find([part])[0]) == 1
    assert cento.Benchmarks([PLANET], min_share=0.6).find([part]) == [()]
    with pytest.raises(cento.InvalidArgumentError, match="min_share"):
        cento.Benchmarks([PLANET], min_share=0)
    with pytest.raises(TypeError, match="max_share"):
        cento.Benchmarks([PLANET], max_share=1)  # type: ignore[call-arg]


def test_items_without_text_are_refused() -> None:
    with pytest.raises(cento.InputError, match="question 0"):
        cento.Benchmarks([{"prompt": "x"}])
    benchmarks = cento.Benchmarks([PLANET])
    with pytest.raises(cento.InputError, match="item 1"):
        list(cento.decontaminate(["text", {"body": "x"}], benchmarks))


def test_rows_without_questions_stay() -> None:
    pa = pytest.importorskip("pyarrow")
    benchmarks = cento.Benchmarks(QUESTIONS)
    turin = str(QUESTIONS[1]["question"])
    texts = ["clean words", f"A quiz \U0001f989. {PLANET} Write down!", PLANET, f"{PLANET} {turin}"]
    table = pa.table({"n": range(4), "body": texts, "id": [[1]] * 4}, metadata={"of": "rows"})
    kept = cento.decontaminate_arrow(table.to_reader(2), benchmarks, text="body", threads=2)
    assert kept.column_names == ["n", "body", "id"]
    found = pa.table(kept)
    assert found.schema.equals(table.schema, check_metadata=True)
    assert found.equals(table.slice(0, 1))
    with pytest.raises(cento.InvalidArgumentError, match="call `decontaminate_arrow` again"):
        pa.table(kept)
    marked = cento.decontaminate_arrow(table, benchmarks, annotate=True, text="body")
    found = pa.table(marked)
    assert found.drop_columns(["decontaminate"]).equals(table)
    rows = found["decontaminate"].to_pylist()
    assert [row["verdict"] for row in rows] == ["clean"] + ["contaminated"] * 3
    assert [row["questions"] for row in rows] == [None, 1, 1, 2]
    assert (rows[1]["benchmark"], rows[1]["question"], rows[1]["share"]) == ("space", "a", 1)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        typed = table.set_column(1, "body", pa.array(texts, kind))
        cut = cento.decontaminate_arrow(typed, benchmarks, cut_passages=True, text="body")
        found = pa.table(cut)
        assert found.schema == typed.schema
        # The rest of the second has fewer than five words.
        assert found["n"].to_pylist() == [0]
        cut = cento.decontaminate_arrow(
            typed, benchmarks, cut_passages=True, min_left=2, text="body"
        )
        found = pa.table(cut)
        assert found["body"].to_pylist() == [texts[0], "A quiz \U0001f989. Write down!"]
    nothing = pa.table(cento.decontaminate_arrow(table.slice(0, 0), benchmarks, text="body"))
    assert (len(nothing), nothing.schema) == (0, table.schema)


def test_the_parts_of_a_row_lose_their_questions() -> None:
    pa = pytest.importorskip("pyarrow")
    parts = [
        {"name": "x", "text": f"One two three four five six. {PLANET}"},
        {"name": "y", "text": "three four five"},
    ]
    table = pa.table({"text": [None, "clean"], "parts": pa.array([parts, None])})
    cut = cento.decontaminate_arrow(table, cento.Benchmarks(QUESTIONS), cut_passages=True)
    found = pa.table(cut)
    texts = [part["text"] for part in found["parts"][0].as_py()]
    assert (texts, found["text"].to_pylist()) == (
        ["One two three four five six.", "three four five"],
        [None, "clean"],
    )


def test_rows_that_are_no_documents_end_the_stream_or_are_left_out() -> None:
    pa = pytest.importorskip("pyarrow")
    benchmarks = cento.Benchmarks(QUESTIONS)
    table = pa.table({"text": ["one", None, "two", PLANET]})
    with pytest.raises(cento.InputError, match="row 1: there is no `text`"):
        list(cento.decontaminate_arrow(table, benchmarks))
    kept = cento.decontaminate_arrow(table, benchmarks, on_error="skip")
    assert pa.table(kept)["text"].to_pylist() == ["one", "two"]
    assert (kept.failed, [each.number for each in kept.refusals]) == (1, [1])
    marked = cento.decontaminate_arrow(table, benchmarks, on_error="skip", annotate=True)
    rows = pa.table(marked)["decontaminate"].to_pylist()
    assert [row["verdict"] for row in rows] == ["clean", "failed", "clean", "contaminated"]
    assert rows[1]["reason"] == "there is no `text`"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"annotate": True, "cut_passages": True}, "`annotate` keeps all rows"),
        ({"min_left": 3}, "give both"),
        ({"on_error": "stop"}, "`on_error` is 'stop'"),
    ]
    for options, what in wrong:
        with pytest.raises(cento.InvalidArgumentError, match=what):
            cento.decontaminate_arrow(table, benchmarks, **options)
    with pytest.raises(cento.InputError, match="there is no column `body`; it has `text`"):
        list(cento.decontaminate_arrow(table, benchmarks, text="body"))
    with pytest.raises(cento.InvalidArgumentError, match="a column `decontaminate` already"):
        cento.decontaminate_arrow(
            pa.table(cento.decontaminate_arrow(table, benchmarks, annotate=True, on_error="skip")),
            benchmarks,
            annotate=True,
        )

"""Questions of benchmarks in documents."""

from __future__ import annotations

import pickle

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
    assert list(benchmarks.unusable) == ["2"]
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
    assert cento.Benchmarks([PLANET]).find([part]) == [()]
    assert len(cento.Benchmarks([PLANET], min_share=0.4).find([part])[0]) == 1
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

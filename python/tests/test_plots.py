"""The contents of drawings."""

from __future__ import annotations

import cento
import cento.plots
import pytest


def test_points_of_a_scheme_ascend_and_are_the_same_again() -> None:
    points = cento.plots.s_curve_points("kgram(k=5)", 0.5, words=100, pairs=20, steps=10)
    assert points == cento.plots.s_curve_points("kgram(k=5)", 0.5, words=100, pairs=20, steps=10)
    assert len(points) == 10
    # All runs are fingerprints, so whatever is far from the threshold is decided.
    assert all(found == 0 for at, found in points if at < 0.3)
    assert all(found == 1 for at, found in points if at > 0.7)
    assert points[-1] == (1.0, 1.0)
    sampled = cento.plots.s_curve_points("winnow(k=5,w=10)", 0.5, words=100, pairs=20, steps=10)
    assert any(0 < found < 1 for _, found in sampled)
    with pytest.raises(cento.InvalidArgumentError, match="threshold"):
        cento.plots.s_curve_points("kgram(k=5)", 2)
    with pytest.raises(cento.SpecError):
        cento.plots.s_curve_points("nothing", 0.5)


def test_similarities_are_counted(index: cento.Index) -> None:
    pairs = list(index.pairs(min_resemblance=0.5))
    counts = cento.plots.similarity_counts(pairs, 10)
    assert sum(counts) == len(pairs) == 10
    assert sum(counts[:5]) == 0
    same = index.search(id="doc-0", limit=1) or index.search(index.get("doc-0").text)  # type: ignore[union-attr]
    assert cento.plots.similarity_counts(index.search("nothing"), 4) == [0, 0, 0, 0]
    assert sum(cento.plots.similarity_counts(same)) == len(same)
    with pytest.raises(cento.InvalidArgumentError):
        cento.plots.similarity_counts([], 0)


def test_percentiles_are_of_answers(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    answers = index.search_many([text for _, text in texts])
    seconds = sorted(answer.took_us / 1e6 for answer in answers)
    found = cento.plots.latency_percentiles(answers, (50, 100, 1))
    assert found == {50: seconds[19], 100: seconds[-1], 1: seconds[0]}
    with pytest.raises(cento.InvalidArgumentError, match="no answer"):
        cento.plots.latency_percentiles([])
    with pytest.raises(cento.InvalidArgumentError, match="percentage"):
        cento.plots.latency_percentiles(answers, (0,))


def test_drawings_have_what_was_counted(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    schemes = ["kgram(k=5)", "winnow(k=5,w=10)"]
    ax = cento.plots.s_curve(schemes, 0.5, words=60, pairs=4, steps=4)
    assert [line.get_label() for line in ax.get_lines()][:2] == schemes
    points = cento.plots.s_curve_points(schemes[0], 0.5, words=60, pairs=4, steps=4)
    drawn = ax.get_lines()[0].get_xydata().tolist()
    assert [tuple(point) for point in drawn] == points
    ax = cento.plots.similarities(index.pairs(min_resemblance=0.5), bins=4)
    assert [bar.get_height() for bar in ax.patches][:2] == [0, 0]
    assert sum(bar.get_height() for bar in ax.patches) == 10
    answers = index.search_many([text for _, text in texts])
    again = cento.plots.latency(answers, ax=ax)
    assert again is ax
    assert len(ax.get_lines()[0].get_xdata()) == 40

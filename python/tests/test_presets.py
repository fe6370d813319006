"""An index has the settings of its preset, and the caller overrides its defaults."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import cento
import pytest


def alike() -> list[tuple[str, str]]:
    words = [f"w{i}" for i in range(200)]
    return [("a", " ".join(words)), ("b", " ".join(words[50:] + [f"x{i}" for i in range(50)]))]


def filled(path: Path, preset: cento.Preset | None) -> cento.Index:
    index = cento.Index(path, create=True, preset=preset, scheme="winnow")
    with index.writer() as writer:
        writer.add_many(alike())
    return index


def test_an_index_has_what_the_list_says(tmp_path: Path) -> None:
    listed = {each.name: each for each in cento.presets()}
    assert tuple(listed) == get_args(cento.Preset)
    for name in ("essays", "corpus", "ocr", "rewritten"):
        index = cento.Index(tmp_path / name, create=True, preset=name)
        assert index.preset == index.stats().preset == name
        assert index.scheme.startswith(listed[name].scheme[:-1])
        # The index has it with all parameters, in their order.
        analyzer, parameters = listed[name].analyzer.rstrip(")").partition("(")[::2]
        assert index.analyzer.startswith(analyzer)
        assert all(each in index.analyzer for each in parameters.split(","))
    other = cento.Index(tmp_path / "other", create=True, preset="corpus", scheme="kgram(k=2)")
    assert (other.preset, other.scheme) == ("corpus", "kgram(k=2)")
    plain = cento.Index(tmp_path / "plain", create=True)
    assert plain.preset is plain.stats().preset is None
    with pytest.raises(cento.OpenError, match="the index has the preset none, not corpus"):
        cento.Index(tmp_path / "plain", preset="corpus")
    with pytest.raises(cento.InvalidArgumentError, match="did you mean `essays`"):
        cento.Index(tmp_path / "new", create=True, preset="essay")  # type: ignore[arg-type]


def test_a_threshold_decides_about_near_duplicates_and_not_about_hits(tmp_path: Path) -> None:
    index = filled(tmp_path / "corpus", "corpus")
    assert list(index.pairs()) == []
    assert len(list(index.pairs(min_resemblance=0))) == 1
    assert len(list(index.pairs(min_overlap=1))) == 1
    assert index.clusters() == []
    assert len(index.clusters(min_resemblance=0.4)) == 1
    assert len(index.search(" ".join(f"w{i}" for i in range(60, 90)))) > 0
    plain = filled(tmp_path / "plain", None)
    assert len(list(plain.pairs())) == len(plain.clusters()) == 1


def test_deduplication_uses_the_threshold(tmp_path: Path) -> None:
    def kinds(**options: object) -> list[str]:
        verdicts = cento.dedup(alike(), **options)  # type: ignore[arg-type]
        return [verdict.kind for _, verdict in verdicts]

    assert kinds() == ["kept", "kept"]
    assert kinds(preset="ocr") == ["kept", "near"]
    assert kinds(preset="ocr", min_resemblance=0.99) == ["kept", "kept"]
    assert kinds(preset="ocr", exact=True) == ["kept", "kept"]
    cento.Index(tmp_path / "seen", create=True, preset="ocr")
    assert kinds(index=tmp_path / "seen") == ["kept", "near"]


def test_a_search_says_that_the_preset_ranked_it(tmp_path: Path) -> None:
    index = filled(tmp_path / "rewritten", "rewritten")
    answer = index.search(alike()[0][1])
    assert answer.defaults == cento.Defaults("rewritten", "weight")
    assert answer.hits[0].weighted is not None
    assert index.search(alike()[0][1], rank="overlap").defaults is None


def test_texts_are_compared_and_signed_by_preset() -> None:
    a, b = "one two three four", "one two and three four"
    assert cento.compare(a, b).overlap == 0
    assert cento.compare(a, b, preset="rewritten").overlap == 7
    assert cento.sign(a, preset="rewritten").scheme == "pairs(n=100)"

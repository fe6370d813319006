"""Families of passages, and the lineage of documents."""

from __future__ import annotations

import json
import warnings
from typing import Any

import cento
import pytest

BEFORE = "größe 🦉 " + " ".join(f"before{at}" for at in range(30))
PASSAGE = [f"passage{at}" for at in range(40)]


def changed() -> str:
    return " ".join([*PASSAGE[:20], "otherwise", *PASSAGE[21:]])


@pytest.fixture
def dated(empty: cento.Index) -> cento.Index:
    after = " ".join(f"after{at}" for at in range(30))
    with empty.writer() as w:
        w.add("late", f"{BEFORE} {changed()}", {"date": "1886"})
        w.add("early", parts=[("a", after), ("b", " ".join(PASSAGE))], meta={"date": "1884-03"})
    return empty


def test_a_passage_has_its_carriers_by_date(dated: cento.Index) -> None:
    found = dated.families(date="date")
    assert (len(found), found.total, found.pairs, found.cut_pairs, found.undated) == (1, 1, 1, 0, 0)
    (family,) = found
    assert (family.documents, family.versions, family.order) == (2, 2, "date")
    assert family.first_is_certain
    assert family.complete
    assert family.text == " ".join(PASSAGE)
    early, late = family.carriers
    assert (early.id, early.date, early.part, early.nearest) == ("early", "1884-03", "b", None)
    assert (late.id, late.nearest, late.unit) == ("late", 0, "characters")
    assert (early.direction_by, late.direction_by, late.relation) == (None, "date", None)
    assert late.changes == (cento.Change("passage20", "otherwise"),)
    for carrier, text in ((early, " ".join(PASSAGE)), (late, changed())):
        document = dated.get(carrier.id)
        assert document is not None
        assert document.text is not None
        assert document.text[slice(*carrier.place)] == text
        (in_bytes,) = dated.families(date="date", bytes=True)
        (place,) = (each.place for each in in_bytes.carriers if each.id == carrier.id)
        assert document.text.encode()[slice(*place)].decode() == text


def test_without_dates_nobody_is_the_first(dated: cento.Index) -> None:
    (family,) = dated.families()
    assert (family.order, family.first_is_certain) == ("added", False)
    assert [carrier.id for carrier in family.carriers] == ["late", "early"]


def test_later_documents_alone_are_searched_for(dated: cento.Index) -> None:
    cursor = dated.families().cursor
    assert len(dated.families(since=cursor)) == 0
    with dated.writer() as w:
        w.add("new", " ".join(PASSAGE), {"date": "1890"})
    (family,) = dated.families(since=cursor)
    assert family.documents == 3
    assert len(dated.families(document="new", min_documents=4)) == 0
    (same,) = dated.families(document="new", limit=1, threads=1)
    expected = json.loads(family.to_json())
    for carrier in expected["carriers"]:
        # Without dates it is unknown which document had it before this one.
        if carrier["id"] != "new":
            carrier["relation"] = "unknown"
    assert json.loads(same.to_json()) == expected


def test_versions_have_their_ancestors(dated: cento.Index) -> None:
    with dated.writer() as w:
        w.add("1", " ".join(PASSAGE), {"date": "1900"})
        w.add("2", " ".join(PASSAGE + [f"added{at}" for at in range(10)]), {"date": "1901"})
    found = dated.lineage(date="date", min_explained=0.7)
    rows = {row.id: row for row in found}
    assert found.versions == sum(row.ancestor is not None for row in found)
    second = rows["2"]
    assert (second.ancestor, second.direction_by, second.date) == ("1", "date", "1901")
    assert second.containment_of_a == 1.0
    assert second.containment_of_b is not None
    assert 0.7 < second.containment_of_b < 0.9
    assert rows["1"].depth < second.depth
    assert (found.trees, found.dated, found.undated) == (1, found.versions, 0)


def test_documents_without_a_date_are_reported(dated: cento.Index) -> None:
    with dated.writer() as w:
        w.add("none", " ".join(PASSAGE), {"date": "yesterday"})
    with pytest.warns(UserWarning, match='1 documents have no date .*none: "yesterday"'):
        assert dated.families(date="date").undated == 1
    with pytest.warns(UserWarning, match="no date"):
        assert dated.lineage(date="date").undated == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dated.families()


def test_wrong_options_are_refused(dated: cento.Index) -> None:
    wrong: Any = {"min_tokens": 5}
    for call in (dated.families, dated.lineage):
        with pytest.raises(TypeError, match="min_tokens"):
            call(**wrong)
        with pytest.raises(cento.InvalidArgumentError, match="nowhere"):
            call(date="nowhere")
    with pytest.raises(cento.InvalidArgumentError, match="min_documents"):
        dated.families(min_documents=1)
    with pytest.raises(cento.InvalidArgumentError, match="since"):
        dated.families(since=1, document="late")
    with pytest.raises(cento.InvalidArgumentError, match="min_explained"):
        dated.lineage(min_explained=2)
    with pytest.raises(cento.UnknownIdError):
        dated.families(document="nobody")

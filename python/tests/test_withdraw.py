"""Withdrawal of documents with their copies, and the list of documents that quote them."""

from __future__ import annotations

from pathlib import Path

import cento
import pytest


def words(seed: int, count: int) -> str:
    return " ".join(f"w{(seed * 7919 + i * 104729) % 2003}" for i in range(count))


@pytest.fixture
def index(tmp_path: Path) -> cento.Index:
    index = cento.Index(tmp_path / "idx", create=True)
    with index.writer() as w:
        w.add("own", words(1, 100))
        w.add("copy", words(1, 100))
        w.add("quoting", words(2, 60) + " " + words(1, 30))
    return index


def test_a_document_is_withdrawn_with_its_copies_and_quotations_are_listed(
    index: cento.Index,
) -> None:
    planned = index.withdraw("own", dry_run=True)
    assert len(index) == 3
    done = index.withdraw("own")
    assert [one["id"] for one in done["removed"]] == ["own", "copy"]
    quoting = words(2, 60) + " " + words(1, 30)
    (one,) = done["quoting"]
    assert (one["id"], one["quoted_tokens"]) == ("quoting", 30)
    assert one["passages"] == [[len(words(2, 60)) + 1, len(quoting)]]
    assert {**planned, "withdrawn": ""} == {**done, "withdrawn": ""}
    assert len(index) == 1
    found = index.get("quoting")
    assert found is not None
    assert found.text == quoting
    # The second time it is done already.
    assert index.withdraw("own") == done


def test_it_is_refused_until_the_withdrawal_is_lifted(index: cento.Index) -> None:
    index.withdraw("own")
    assert [one["id"] for one in index.withdrawals()] == ["own"]
    with pytest.raises(cento.InputError, match="withdrawn on") as refused, index.writer() as w:
        w.add("again", words(1, 100))
    assert refused.value.reason == "withdrawn"
    # It ended the call, although such items were to be left out.
    items = [("again", words(1, 100)), ("new", words(5, 50)), ("more", words(1, 100))]
    with index.writer() as w:
        report = w.add_many(items, on_error="skip")
    assert (report.added, [each.number for each in report.refusals]) == (1, [0, 2])
    with index.writer() as w:
        w.remove("new")
    assert (index.forget_withdrawal("own"), index.forget_withdrawal("own")) == (1, 0)
    with index.writer() as w:
        w.add("again", words(1, 100))
    assert len(index) == 2


def test_options_are_those_of_the_command(index: cento.Index) -> None:
    done = index.withdraw("own", keep_copy=["copy"], min_passage=40, dry_run=True)
    assert [one["id"] for one in done["removed"]] == ["own"]
    # A copy that is kept quotes all of it; the quotation of 30 words is too short.
    assert [one["id"] for one in done["quoting"]] == ["copy"]
    assert done["min_passage"] == 40
    with pytest.raises(cento.InvalidArgumentError, match="min_passage"):
        index.withdraw("own", min_passage=2)
    with pytest.raises(cento.UnknownIdError):
        index.withdraw("none")

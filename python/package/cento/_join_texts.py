"""Which texts are similar, and which documents stay? Steps of a join that compare and decide.

The library compares the texts of a pair as on one machine, where the engine has sent both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import _native
from ._errors import InvalidArgumentError
from ._index import Index
from ._join_rows import (
    COPIES,
    EDGES,
    IDS,
    NO_LIMIT,
    ROWS,
    SENT,
    TEXTS,
    Batches,
    Source,
    combined,
    digest_of,
    groups,
    made,
    np,
    numbers,
    pa,
    pc,
    schema_of,
    starts,
    starts_of,
)
from .parts import PAIRS, _plain

KEY_BYTES = 9
"""The bytes of a rank before the id."""


def _rank(source: Source, batch: Any, ids: list[str], tokens: Any) -> list[bytes]:
    """Returns what documents are ordered by: the preferred first, and among equals the smallest id.

    Raises:
        InvalidArgumentError: The column that decides has no numbers.
    """
    if source.prefer is None:
        return [bytes(KEY_BYTES) + id.encode() for id in ids]
    if source.column is None:
        values, descends = pa.array(tokens.astype(np.int64)), True
    else:
        values, descends = batch[source.column], source.prefer.startswith("-")
    kind = values.type
    if pa.types.is_integer(kind):
        bits = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        order = bits.astype(np.uint64) ^ np.uint64(1 << 63)
    elif pa.types.is_floating(kind):
        # Not a number is no value in JSON either.
        values = pc.if_else(pc.is_nan(values), None, values).cast(pa.float64())
        floats = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False) + 0.0
        bits = floats.view(np.uint64)
        sign = np.uint64(1 << 63)
        order = np.where(bits & sign, ~bits, bits ^ sign)
    else:
        raise InvalidArgumentError(
            f"`prefer` names a column of {kind}, and tasks can compare numbers only; make a number "
            "of it, such as the seconds of a date since 1970"
        )
    if descends:
        order = ~order
    missing = values.is_null().to_numpy(zero_copy_only=False)
    numbers = np.where(missing, np.uint64(0), order).tolist()
    return [
        bytes([is_missing]) + number.to_bytes(8, "big") + id.encode()
        for is_missing, number, id in zip(missing.tolist(), numbers, ids, strict=True)
    ]


def _copies(
    source: Source, batches: Batches
) -> Iterator[tuple[list[str], list[bytes], list[bytes]]]:
    """Gives the texts of some documents at a time, with their digests and ranks."""
    signer = source.signer if source.prefer == "longest" else None
    for ids, texts, rows in source.documents(batches):
        tokens = None if signer is None else np.frombuffer(signer.sign(texts, ids)[2], "<u4")
        yield texts, [digest_of(text) for text in texts], _rank(source, rows, ids, tokens)


def read_copies(source: Source, batches: Batches) -> Batches:
    """Gives the digest and the rank of each document."""
    for _, digests, ranks in _copies(source, batches):
        yield from made(COPIES, t=digests, side=np.zeros(len(ranks), np.int32), rank=ranks)


def read_texts(source: Source, batches: Batches) -> Batches:
    """Gives the text of each document, of copies that are read together once, with the rank.

    Of copies only the first decides about duplicates, but each is in pairs.
    """
    for texts, digests, ranks in _copies(source, batches):
        order = sorted(range(len(ranks)), key=lambda at: (digests[at], ranks[at]))
        firsts = {
            at for n, at in enumerate(order) if n == 0 or digests[at] != digests[order[n - 1]]
        }
        chosen = sorted(firsts) if source.is_dedup else range(len(ranks))
        yield from made(
            TEXTS,
            t=[digests[at] for at in chosen],
            side=np.zeros(len(chosen), np.int32),
            other=pa.nulls(len(chosen)),
            rank=[ranks[at] for at in chosen],
            text=[texts[at] if at in firsts else None for at in chosen],
        )


def find_repeated_ids(batches: Batches) -> Batches:
    """Gives ids that occur more than once, at most one for each batch."""
    for batch, is_start in starts_of(batches, "id"):
        yield batch.filter(pa.array(~is_start)).slice(0, 1)


def read_ids(source: Source, batches: Batches) -> Batches:
    for batch in batches:
        yield from made(IDS, id=batch[source.id].cast(pa.string()))


def send_texts(places: int, is_dedup: bool, batches: Batches) -> Batches:
    """Sends each text of a pair to the place where the pair is compared.

    A pair is compared at the place of its second text, to which the first travels once, however
    many partners it has there. Rows are in the order of text and side.
    """
    for table in groups(batches, ["t"]):
        begins = np.append(np.flatnonzero(starts(table, ["t"])), len(table))
        sides, texts = numbers(table, "side"), numbers(table, "t")
        for begin, end in pairwise(begins.tolist()):
            if sides[end - 1] == 0 and (is_dedup or end - begin == 1):
                continue
            yield from _sent(table.slice(begin, end - begin), texts[begin], places, is_dedup)


def _sent(rows: Any, t: bytes, places: int, is_dedup: bool) -> Batches:
    """Gives the rows of one text, which is in a pair or has copies."""
    sides, others = rows["side"].to_pylist(), rows["other"].to_pylist()
    ranks = sorted(rank for rank in rows["rank"].to_pylist() if rank is not None)
    text = next(text for text in rows["text"].to_pylist() if text is not None)
    if is_dedup:
        ranks = ranks[:1]
    partners: dict[int, list[bytes]] = {}
    for side, other in zip(sides, others, strict=True):
        if side == 1:
            partners.setdefault(_place(other, places), []).append(other)
    if 2 in sides or len(ranks) > 1:
        partners.setdefault(_place(t, places), [])
    if len(ranks) > 1:
        # Itself, as a sign that its copies are pairs: none as a sign that each has the first only.
        partners[_place(t, places)].append(b"" if 3 in sides else t)
    for place, sent in partners.items():
        yield from made(SENT, place=[place], t=[t], ranks=[ranks], text=[text], others=[sent])


def _place(t: bytes, places: int) -> int:
    return int.from_bytes(t[8:12], "little") % places


@dataclass
class _Texts:
    """The texts of a task, and the pairs to be compared there."""

    ranks: dict[bytes, list[bytes]]
    texts: dict[bytes, str]
    pairs: set[tuple[bytes, bytes]]

    @staticmethod
    def of(table: Any) -> _Texts:
        """Reads what has been sent."""
        texts, ranks = dict[bytes, str](), dict[bytes, list[bytes]]()
        pairs = set[tuple[bytes, bytes]]()
        names = ("t", "ranks", "text", "others")
        columns = [table[name].to_pylist() for name in names]
        for t, of, text, others in zip(*columns, strict=True):
            texts[t], ranks[t] = text, of
            pairs.update((t, other) for other in others)
        return _Texts(ranks, texts, pairs)


def compare_pairs(
    settings: Mapping[str, Any], thresholds: Mapping[str, Any], batches: Batches
) -> Batches:
    """Compares the texts of pairs by an index of the task, and names the documents."""
    for table in groups(batches, ["place"]):
        sent = _Texts.of(table)
        stopped = {t for t, other in sent.pairs if other == b""}
        rows = list(sent.texts.items())
        rows += [(t + b"2", sent.texts[t]) for t, other in sent.pairs if t == other]
        yield from _named(sent, _pairs_of(rows, settings, {**thresholds, "max_df": NO_LIMIT}))
        if stopped:
            rows = [(t + end, sent.texts[t]) for t in stopped for end in (b"", b"2")]
            found = _pairs_of(rows, settings, {**thresholds, "max_df": 0})
            yield from _named(sent, found, is_stopped=True)


def _pairs_of(
    rows: list[tuple[bytes, str]], settings: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    """Returns the pairs of these texts, as one machine finds them."""
    with tempfile.TemporaryDirectory(prefix="cento-pairs-") as directory:
        index = Index(Path(directory) / "index", create=True, store_text=True, **settings)
        with index.writer() as w:
            w.add_many([(t.hex(), text) for t, text in rows], threads=1)
        return _plain(pa.table(index.pairs(to_arrow=True, threads=1, **options)))


def _named(sent: _Texts, found: Any, is_stopped: bool = False) -> Batches:
    """Gives the pairs of documents, the smaller id first, of those pairs that were asked for."""
    rows: list[dict[str, Any]] = []
    for pair in found.to_pylist():
        a, b = bytes.fromhex(pair["a"]), bytes.fromhex(pair["b"])
        if a[:16] == b[:16]:
            ids = sorted(rank[KEY_BYTES:].decode() for rank in sent.ranks[a[:16]])
            firsts = ids[:1] if is_stopped else ids
            named = [(one, other) for at, one in enumerate(firsts) for other in ids[at + 1 :]]
        elif (a, b) in sent.pairs or (b, a) in sent.pairs:
            of_a, of_b = ([rank[KEY_BYTES:].decode() for rank in sent.ranks[t]] for t in (a, b))
            named = [(one, other) for one in of_a for other in of_b]
        else:
            # Brought together by chance; the pair is compared elsewhere, or its fingerprints are
            # stopped.
            continue
        rows += [_between(pair, one, other) for one, other in named]
        if len(rows) >= ROWS:
            yield from pa.Table.from_pylist(rows, schema=schema_of(PAIRS)).to_batches()
            rows.clear()
    if rows:
        yield from pa.Table.from_pylist(rows, schema=schema_of(PAIRS)).to_batches()


def _between(pair: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    """The pair with the numbers of `a` first, or turned around if `b` is the smaller id."""
    if a < b:
        return {**pair, "a": a, "b": b}
    turned = {
        f"{name}_{side}": pair[f"{name}_{other}"]
        for name in ("containment_of", "fingerprints", "tokens")
        for side, other in (("a", "b"), ("b", "a"))
    }
    return {**pair, **turned, "a": b, "b": a}


def judge_pairs(options: Mapping[str, Any], batches: Batches) -> Batches:
    """Gives an edge from each text to an earlier one that it duplicates."""
    judge = _native.TextJudge(dict(options))
    for table in groups(batches, ["place"]):
        sent = _Texts.of(table)
        order = sorted(sent.texts, key=lambda t: sent.ranks[t][0])
        at = {t: number for number, t in enumerate(order)}
        # The rank ends with the id, for messages.
        ids = [sent.ranks[t][0][KEY_BYTES:].decode() for t in order]
        places = sorted((at[a], at[b]) for a, b in sent.pairs)
        pairs = [(max(pair), min(pair)) for pair in places]
        found = judge.duplicates([sent.texts[t] for t in order], ids, pairs)
        edges = [pair for pair, is_duplicate in zip(pairs, found, strict=True) if is_duplicate]
        yield from made(
            EDGES,
            t=[order[later] for later, _ in edges],
            other=[order[earlier] for _, earlier in edges],
            side=np.ones(len(edges), np.int32),
        )


def both_ends(batches: Batches) -> Batches:
    """Gives each edge to both of its texts: side 1 to the later one, and 0 to the earlier."""
    for batch in batches:
        yield batch
        sides = np.zeros(len(batch), np.int32)
        yield from made(EDGES, t=batch["other"], other=batch["t"], side=sides)


def _by_text(batches: Batches) -> Iterator[tuple[Any, Any, Any]]:
    """Gives the rows of edges by text, with the places where a text begins and their counts."""
    for table in groups(batches, ["t"]):
        begins = np.flatnonzero(starts(table, ["t"]))
        yield table, begins, np.diff(np.append(begins, len(table)))


def drop_later(batches: Batches) -> Batches:
    """Gives the texts that duplicate one that is certainly kept, because it duplicates none."""
    for table, begins, counts in _by_text(batches):
        sides = numbers(table, "side")
        is_kept = np.maximum.reduceat(sides, begins) == 0
        chosen = table.filter(pa.array(np.repeat(is_kept, counts)))
        none = pa.nulls(len(chosen))
        sides = np.zeros(len(chosen), np.int32)
        yield from made(EDGES, t=combined(chosen["other"]), other=none, side=sides)


def leave_undecided(batches: Batches) -> Batches:
    """Leaves the edges of texts that are not dropped, turned around. Side 0 marks the dropped."""
    for table, begins, counts in _by_text(batches):
        sides = numbers(table, "side")
        is_left = np.repeat(np.minimum.reduceat(sides, begins) > 0, counts)
        left = table.filter(pa.array(is_left))
        sides = np.ones(len(left), np.int32)
        yield from made(EDGES, t=combined(left["other"]), other=combined(left["t"]), side=sides)


def decide(batches: Batches) -> Batches:
    """Gives the dropped texts of all remaining edges, in one task."""
    earlier, later = dict[bytes, int](), dict[bytes, list[bytes]]()
    for batch in batches:
        for t, other in zip(batch["t"].to_pylist(), batch["other"].to_pylist(), strict=True):
            earlier[t] = earlier.get(t, 0) + 1
            earlier.setdefault(other, 0)
            later.setdefault(other, []).append(t)
    kept = [t for t, count in earlier.items() if count == 0]
    dropped = set[bytes]()
    while kept:
        new = {each for t in kept for each in later.get(t, ())} - dropped
        dropped |= new
        kept = []
        for t in new:
            for each in later.get(t, ()):
                earlier[each] -= 1
                if earlier[each] == 0 and each not in dropped:
                    kept.append(each)
    found = sorted(dropped)
    yield from made(EDGES, t=found, other=pa.nulls(len(found)), side=np.zeros(len(found), np.int32))


def mark_dropped(batches: Batches) -> Batches:
    """Gives dropped texts as a side of the copies, with the least rank of all."""
    for batch in batches:
        sides = np.ones(len(batch), np.int32)
        yield from made(COPIES, t=batch["t"], side=sides, rank=[b""] * len(batch))


def drop_copies(batches: Batches) -> Batches:
    """Gives the ids to drop: of a kept text all but the first. Rows are in the order of rank."""
    is_dropped = 0
    for batch, is_start in starts_of(batches, "t"):
        sides = numbers(batch, "side")
        # The first row of a text tells whether it is dropped, for all rows up to the next text.
        places = np.maximum.accumulate(np.where(is_start, np.arange(1, len(batch) + 1), 0))
        marks = np.append(is_dropped, sides)[places] > 0
        chosen = batch.filter(pa.array((sides == 0) & (marks | ~is_start)))
        is_dropped = int(marks[-1])
        yield from made(IDS, id=[rank[KEY_BYTES:].decode() for rank in chosen["rank"].to_pylist()])

"""Which texts may be similar? Steps of a join that look for the pairs to compare.

They exchange fingerprints. Texts that must share many have rare ones in common, so the frequent
ones, which nearly all texts have, bring nobody together.
"""

from __future__ import annotations

from typing import Any

from ._join_rows import (
    COUNTS,
    KEYS,
    LISTED,
    POSTINGS,
    ROWS,
    SHARED,
    TEXTS,
    Batches,
    Source,
    combined,
    groups,
    made,
    np,
    numbers,
    pa,
    pc,
    signed,
    starts,
)

NEEDED = 3
"""How many fingerprints of their prefixes two texts share at least, unless they need share fewer.

With one, texts that have a single rare passage in common would be sent to each other. Each more
makes a prefix longer by one fingerprint.
"""

_BLOCK = 5_000
"""A list of more texts is cut into blocks of about this size, because all of it may not fit into
memory."""

_CELLS = 1 << 31
"""More than the blocks of any list."""


def count_keys(source: Source, batches: Batches) -> Batches:
    """Counts the documents of each batch with each fingerprint."""
    for of in signed(source, batches):
        found, places = np.unique(of.keys, return_inverse=True)
        counts = np.bincount(places, weights=np.repeat(of.copies, of.sizes), minlength=len(found))
        yield from made(COUNTS, key=found, n=counts.astype(np.int64))


def add_counts(batches: Batches) -> Batches:
    """Adds up the counts of fingerprints; those in one document are left out."""
    for table in groups(batches, ["key"]):
        begins = np.flatnonzero(starts(table, ["key"]))
        total = np.add.reduceat(numbers(table, "n"), begins)
        kept = total > 1
        keys = numbers(table, "key")[begins]
        yield from made(COUNTS, key=keys[kept], n=total[kept])


def total(batches: Batches) -> Batches:
    """Adds up all counts of a task."""
    found = sum(int(numbers(batch, "n").sum()) for batch in batches)
    yield from made(COUNTS, key=[0], n=[found])


def heavier_than(bound: int, batches: Batches) -> Batches:
    """Chooses the fingerprints in more documents than this."""
    for batch in batches:
        yield batch.filter(pc.greater(batch["n"], bound))


def list_keys(source: Source, batches: Batches) -> Batches:
    """Gives each fingerprint of each document."""
    heavy = np.array(sorted(source.heavy), np.int64)
    frequencies = np.array([source.heavy[key] for key in heavy.tolist()], np.int64)
    for texts in signed(source, batches):
        keys = texts.keys
        at = np.searchsorted(heavy, keys)
        at[at == len(heavy)] = 0
        is_heavy = heavy[at] == keys if len(heavy) else np.zeros(len(keys), bool)
        of = np.repeat(np.arange(len(texts.digests)), texts.sizes)
        salts = np.array([int.from_bytes(t[:4], "little") for t in texts.digests], np.int64)
        for first in range(0, len(keys), ROWS):
            part = slice(first, first + ROWS)
            yield from made(
                KEYS,
                key=keys[part],
                salt=np.where(is_heavy, salts[of], 0)[part],
                t=pa.array(texts.digests).take(pa.array(of[part])),
                size=texts.sizes[of[part]],
                least=texts.least[of[part]],
                df=np.where(is_heavy, frequencies[at] if len(heavy) else 0, 0)[part],
                n=texts.copies[of[part]],
            )


def leave_shared(df_limit: int, batches: Batches) -> Batches:
    """Leaves the fingerprints that several texts share, with their document frequencies.

    Also those that are stopped, because whether all fingerprints of a text are decides about its
    copies. Rows are in the order of key, salt and text.
    """
    for table in groups(batches, ["key", "salt"]):
        is_text = starts(table, ["key", "salt", "t"])
        group = np.cumsum(starts(table, ["key", "salt"])) - 1
        known = numbers(table, "df")
        counted = np.bincount(group, weights=numbers(table, "n")).astype(np.int64)
        df = np.where(known > 0, known, counted[group])
        texts = np.bincount(group, weights=is_text)[group]
        kept = is_text & ((known > 0) | (texts > 1) | (df > df_limit))
        table = table.set_column(5, "df", pa.array(df)).filter(pa.array(kept))
        yield from table.select([each.split()[0] for each in LISTED.split(", ")]).to_batches()


def post_rarest(df_limit: int, is_mutual: bool, batches: Batches) -> Batches:
    """Gives the rarest fingerprints of each text, of which it shares some with every partner.

    A text that shares at least `least` of its n listed fingerprints with a partner shares `need` of
    the first n - least + need, in any order that all texts agree on. If the minimum holds for one
    of the two texts only, the partner has to list all. Rows are in the order of text, frequency and
    key.
    """
    for table in groups(batches, ["t"]):
        begins = np.flatnonzero(starts(table, ["t"]))
        counts = np.diff(np.append(begins, len(table)))
        df, least = numbers(table, "df"), numbers(table, "least").astype(np.int64)
        is_stopped = df > df_limit
        stops = np.add.reduceat(is_stopped.astype(np.int64), begins) > 0
        least_of = least[begins]
        # A partner may share one fingerprint that is not stopped, and many that are.
        need = np.where(stops | (not is_mutual), 1, np.minimum(NEEDED, least_of))
        is_searched = (least_of > 0) & (counts >= least_of)
        length = np.where(is_searched, counts - least_of + need, 0)
        place = np.arange(len(table)) - np.repeat(begins, counts)
        probes = place < np.repeat(length, counts)
        listed = np.flatnonzero(~is_stopped & (probes | (not is_mutual)))
        yield from _posted(
            table, listed, probes, np.repeat(counts, counts), np.repeat(need, counts)
        )


def _posted(table: Any, listed: Any, probes: Any, shared: Any, need: Any) -> Batches:
    """Gives postings. A long list is cut into blocks, and any two blocks meet in a cell."""
    blocks = (numbers(table, "df")[listed] - 1) // _BLOCK + 1
    texts = numbers(table, "t")[listed]
    own = np.zeros(len(listed), np.int64)
    for at in np.flatnonzero(blocks > 1):
        own[at] = int.from_bytes(texts[at][4:8], "little") % blocks[at]
    rows = np.repeat(np.arange(len(listed)), blocks)
    other = np.arange(len(rows)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    at, own = listed[rows], own[rows]
    yield from made(
        POSTINGS,
        key=numbers(table, "key")[at],
        cell=np.minimum(own, other) * _CELLS + np.maximum(own, other),
        block=own,
        t=texts[rows],
        shared=shared[at],
        least=numbers(table, "least")[at],
        need=need[at],
        probes=probes[at],
    )


def pair_listed(is_mutual: bool, batches: Batches) -> Batches:
    """Pairs the texts that a list brings together, as far as they may share enough."""
    for table in groups(batches, ["key", "cell"]):
        begins = np.flatnonzero(starts(table, ["key", "cell"]))
        counts = np.diff(np.append(begins, len(table)))
        ends = np.repeat(begins + counts, counts)
        lists = {name: numbers(table, name) for name in table.schema.names}
        lists["is_whole"] = lists["cell"] // _CELLS == lists["cell"] % _CELLS
        first = np.flatnonzero(np.repeat(counts > 1, counts))
        step = 1
        while len(first) > 0:
            first = first[first + step < ends[first]]
            # A long list has millions of pairs.
            for begin in range(0, len(first), ROWS):
                own = first[begin : begin + ROWS]
                yield from _paired(lists, own, own + step, is_mutual)
            step += 1


def _paired(lists: dict[str, Any], i: Any, j: Any, is_mutual: bool) -> Batches:
    """Gives the pairs of these places in lists, as far as their texts may share enough."""
    shared, least, need, t = (lists[name] for name in ("shared", "least", "need", "t"))
    may_i, may_j = shared[j] >= least[i], shared[i] >= least[j]
    probes = lists["probes"]
    is_pair = may_i & may_j if is_mutual else (probes[i] & may_i) | (probes[j] & may_j)
    # A pair of one block meets in the cell of that block alone.
    is_pair &= lists["is_whole"][i] | (lists["block"][i] != lists["block"][j])
    i, j = i[is_pair], j[is_pair]
    is_less = (t[i] < t[j]).astype(bool)
    yield from made(
        SHARED,
        a=np.where(is_less, t[i], t[j]),
        b=np.where(is_less, t[j], t[i]),
        need=np.minimum(need[i], need[j]),
    )


def choose_pairs(batches: Batches) -> Batches:
    """Chooses the pairs that share enough of their prefixes, once for each of the two texts."""
    for table in groups(batches, ["a", "b"]):
        begins = np.flatnonzero(starts(table, ["a", "b"]))
        counts = np.diff(np.append(begins, len(table)))
        chosen = begins[counts >= numbers(table, "need")[begins]]
        pairs = table.take(pa.array(chosen))
        for side, own, other in ((1, "a", "b"), (2, "b", "a")):
            none = pa.nulls(len(pairs))
            sides = pa.array(np.full(len(pairs), side, np.int32))
            yield from made(
                TEXTS,
                t=combined(pairs[own]),
                side=sides,
                other=combined(pairs[other]),
                rank=none,
                text=none,
            )


def find_stopped(df_limit: int, batches: Batches) -> Batches:
    """Gives the texts whose fingerprints are all stopped, as a side of their own."""
    for table in groups(batches, ["t"]):
        begins = np.flatnonzero(starts(table, ["t"]))
        stopped = np.add.reduceat((numbers(table, "df") > df_limit).astype(np.int64), begins)
        chosen = table.take(pa.array(begins[stopped == numbers(table, "size")[begins]]))
        none = pa.nulls(len(chosen))
        sides = pa.array(np.full(len(chosen), 3, np.int32))
        texts = combined(chosen["t"])
        yield from made(TEXTS, t=texts, side=sides, other=none, rank=none, text=none)

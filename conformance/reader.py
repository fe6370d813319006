#!/usr/bin/env python3
"""What does a .sig file say?

Follows segments-format.md and nothing else: slow, simple, and without a line of cento. Prints the
content of a file as JSON in the shape that README.md describes, or refuses the file with a sentence
that names section and byte.

    python3 conformance/reader.py FILE.sig
"""

import json
import sys
import zlib

SECTIONS = ["terms", "term index", "filter", "postings", "forward", "ids"]
SECTIONS += ["documents", "checksums"]
PAGE, HEADER, FOOTER, BLOCK, GROUP, LINE, IDS = 4096, 40, 192, 256, 64, 64, 16
# The inputs that a node of a transducer names by a number, the first of them by 1.
COMMON_INPUTS = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG"


class Refusal(Exception):
    """What a file has that no writer left there."""

    def __init__(self, kind, section, offset, what):
        super().__init__(f"{section} at byte {offset}: {what}")
        self.kind, self.section, self.offset = kind, section, offset


class Cursor:
    """Bytes of one section, read from the front."""

    def __init__(self, section, start, data, at=0):
        self.section, self.start, self.data, self.at = section, start, data, at

    def need(self, condition, kind, what):
        if not condition:
            raise Refusal(kind, self.section, self.start + self.at, what)

    def to(self, at):
        self.need(at <= len(self.data), "bounds", f"it has no byte {at}")
        return Cursor(self.section, self.start, self.data, at)

    def take(self, count):
        left = len(self.data) - self.at
        self.need(count <= left, "bounds", f"{count} bytes are needed and {left} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    def uint(self, count):
        return int.from_bytes(self.take(count), "little")

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.uint(1)
            value |= (byte & 127) << shift
            if byte < 128:
                self.need(value < 1 << 64, "encoding", "a varint of more than 64 bits")
                return value
        self.need(False, "encoding", "a varint of more than 10 bytes")

    def column(self, count, width):
        packed = int.from_bytes(self.take((count * width + 7) // 8), "little")
        return [packed >> i * width & (1 << width) - 1 for i in range(count)]

    def end(self, what):
        self.need(self.at == len(self.data), "layout", f"bytes that belong to no {what}")


def ascends(values):
    return all(a < b for a, b in zip(values, values[1:]))


def roaring(cursor):
    """A bitmap (RoaringFormatSpec, 32 bits) that takes the rest of the bytes."""
    start, cookie = cursor.at, cursor.uint(4)
    has_runs = cookie & 0xFFFF == 12347
    cursor.need(has_runs or cookie == 12346, "encoding", "no cookie of a bitmap")
    count = (cookie >> 16) + 1 if has_runs else cursor.uint(4)
    cursor.need(count <= 65536, "encoding", "a bitmap of more than 65536 containers")
    is_run = cursor.column(count, 1) + [0] * (-count % 8) if has_runs else [0] * count
    heads = [(cursor.uint(2), cursor.uint(2) + 1) for _ in range(count)]
    cursor.need(ascends([key for key, _ in heads]), "encoding", "containers out of order")
    has_offsets = not has_runs or count >= 4
    offsets = [cursor.uint(4) for _ in range(count)] if has_offsets else []
    values = []
    for i, (key, cardinality) in enumerate(heads):
        place = cursor.at - start
        cursor.need(not offsets or offsets[i] == place, "encoding", "a container is elsewhere")
        if is_run[i]:
            runs = [(cursor.uint(2), cursor.uint(2)) for _ in range(cursor.uint(2))]
            low = [low for first, more in runs for low in range(first, first + more + 1)]
        elif cardinality <= 4096:
            low = [cursor.uint(2) for _ in range(cardinality)]
        else:
            low = [bit for bit, is_set in enumerate(cursor.column(65536, 1)) if is_set]
        cursor.need(ascends(low) and low[-1:] < [65536], "encoding", "values out of order")
        cursor.need(len(low) == cardinality, "encoding", "not as many values as counted")
        values += [key << 16 | value for value in low]
    cursor.need(cursor.at == len(cursor.data), "encoding", "bytes after the last container")
    return values


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def filter_of(keys):
    """The filter of a group."""
    lines = (6 * len(keys) + 511) // 512
    filter = bytearray(LINE * lines)
    for key in keys:
        h = mix64(key)
        for shift in (0, 9, 18, 27):
            bit = (h >> shift) % 512
            filter[LINE * ((h >> 32) * lines >> 32) + bit // 8] |= 1 << bit % 8
    return bytes(filter)


def transducer(fst, key_bytes):
    """Keys and values of the FST that takes the rest of the bytes, which has keys of up to `key_bytes`."""
    begin, size = fst.at, len(fst.data) - fst.at
    fst.need(size >= 36, "encoding", "too short for a transducer")
    tail = size - 20

    def at(place):
        return fst.to(begin + place)

    version, count, root = (at(place).uint(8) for place in (0, tail, tail + 8))
    fst.need(version == 3, "encoding", "a transducer of another version")
    fst.need(root == tail - 1 or (root == 0 and tail == 16), "encoding", "no root")
    entries = []

    def walk(address, prefix, sum):
        fst.need(len(prefix) <= key_bytes, "encoding", "a key that is too long")
        is_final, output, transitions = node(at, fst, address, tail)
        fst.need(is_final or transitions or address == root, "encoding", "a way to nowhere")
        if is_final:
            entries.append((prefix, sum + output))
            fst.need(len(entries) <= count, "count", "more entries than it counts")
        for letter, target, more in transitions:
            walk(target, prefix + bytes([letter]), sum + more)

    walk(root, b"", 0)
    fst.need(len(entries) == count, "count", "fewer entries than it counts")
    return entries


def node(at_byte, fst, address, tail):
    """Whether a node ends a key, its output, and its transitions."""
    if address == 0:
        return True, 0, []
    at = address + 1
    fst.need(16 < at <= tail, "encoding", "a node that lies elsewhere")

    def below(count):
        nonlocal at
        at -= count
        fst.need(at >= 16, "encoding", "a node that begins elsewhere")
        return at_byte(at).take(count)

    def number(count):
        return int.from_bytes(below(count), "little")

    state = number(1)
    is_final, kind, low = state >> 6 == 1, state >> 6, state & 63
    if kind >= 2:
        letters, count = [COMMON_INPUTS[low - 1] if low else number(1)], 1
        if kind == 3:
            return False, 0, [(letters[0], at - 1, 0)]
    else:
        count = low or number(1)
        count = 256 if count == 1 and not low else count
    sizes = number(1)
    if kind < 2:
        below(256 if count > 32 else 0)
        letters = [number(1) for _ in range(count)]
        fst.need(ascends(letters), "encoding", "transitions out of order")
    distances = [number(sizes >> 4) for _ in range(count)]
    outputs = [number(sizes & 15) for _ in range(count)]
    output = number(sizes & 15) if is_final else 0
    begin = at
    fst.need(max(distances, default=0) < begin, "encoding", "a way out of its bytes")
    targets = [distance and begin - distance for distance in distances]
    return is_final, output, list(zip(letters, targets, outputs))


class Segment:
    """A .sig file, read and checked as a whole."""

    def __init__(self, data):
        self.data = data
        self.open()
        self.read_terms()
        self.read_documents()

    def open(self):
        header = Cursor("header", 0, self.data)
        is_sig = len(self.data) >= HEADER and self.data.startswith(b"CENTOSIG")
        header.need(is_sig, "magic", "this is not a .sig file")
        header.take(8)
        self.version = header.uint(2)
        header.need(self.version == 1, "version", f"version {self.version}, not 1")
        self.key_bits, unsigned, self.documents = header.uint(1), header.uint(1), header.uint(4)
        header.need(1 <= self.key_bits <= 64, "parameter", f"keys of {self.key_bits} bits")
        header.need(unsigned <= 1, "parameter", "signatures are stored or not, 0 or 1")
        self.signatures = unsigned == 0
        self.config, zeros = header.uint(8), header.uint(16)
        header.need(zeros == 0, "reserved", "reserved bytes that are not zero")
        self.key_bytes = (self.key_bits + 7) // 8
        self.doc_bits = max(self.documents - 1, 0).bit_length()

        footer_at = max(len(self.data) - FOOTER, 0)
        footer = Cursor("footer", footer_at, self.data[footer_at:])
        is_whole = len(footer.data) == FOOTER and footer.data.endswith(b"GISOTNEC")
        footer.need(is_whole, "magic", "the end of the file is missing")
        table = [(footer.uint(8), footer.uint(8)) for _ in SECTIONS]
        terms, postings, occurrences, tokens = (footer.uint(8) for _ in range(4))
        self.counts = {"terms": terms, "postings": postings, "occurrences": occurrences}
        self.counts["tokens"] = tokens
        self.widths = [footer.uint(1) for _ in range(5)]
        thresholds = [footer.uint(size) for size in (1, 2, 1, 1, 2)]
        checksums_crc, crc, zero = footer.uint(4), footer.uint(4), footer.uint(4)
        footer.need(crc == zlib.crc32(footer.data[:176]), "checksum", "its checksum does not fit")
        footer.need(zero == 0, "reserved", "reserved bytes that are not zero")
        is_known = thresholds == [IDS, BLOCK, GROUP, 6, 256]
        footer.need(is_known, "parameter", "thresholds that version 1 does not have")
        footer.need(max(self.widths) <= 64, "parameter", "a column of more than 64 bits")

        self.sections, end = {}, HEADER
        for name, (start, length) in zip(SECTIONS, table):
            fits = start == end and length <= footer_at - end
            where = Cursor(name, end, b"")
            where.need(fits, "layout", "it does not follow the section before it")
            end += length
            self.sections[name] = Cursor(name, start, self.data[start:end])
        checksums = self.sections["checksums"]
        covered = self.data[: checksums.start]
        pages = range(0, len(covered), PAGE)
        is_last = end == footer_at and len(checksums.data) == 4 * len(pages)
        checksums.need(is_last, "layout", "not as long as the pages and the file ask for")
        fits = zlib.crc32(checksums.data) == checksums_crc
        checksums.need(fits, "checksum", "the checksums themselves are damaged")
        for page in pages:
            fits = zlib.crc32(covered[page : page + PAGE]) == checksums.to(page // 1024).uint(4)
            begun = [name for name in SECTIONS if self.sections[name].start <= page]
            where = Cursor(begun[-1] if begun else "header", page, b"")
            where.need(fits, "checksum", "the page that begins here does not fit its checksum")
        if not self.signatures:
            forward = self.sections["forward"]
            forward.need(not forward.data, "layout", "signatures, which are not stored")
            numbers = self.widths[0], self.widths[3], occurrences
            footer.need(numbers == (0, 0, 0), "parameter", "fingerprints of signatures, not stored")
        columns = sum((self.documents * width + 7) // 8 for width in self.widths[1:4])
        columns += ((self.documents + IDS - 1) // IDS * self.widths[4] + 7) // 8
        columns += (self.documents * (32 + self.doc_bits) + 7) // 8
        where, lengths = self.sections["documents"], len(self.sections["documents"].data)
        where.need(lengths == columns, "layout", "not as long as its columns")
        self.sections["terms"].need(terms < 1 << 32, "range", "more than 2^32 - 1 terms")
        self.read_term_index()

    def read_term_index(self):
        """Fills `groups` with the separators, as keys, and `index` with the places of blocks."""
        index, count = self.sections["term index"], self.counts["terms"]
        blocks = (count + BLOCK - 1) // BLOCK
        self.groups, self.index = [], []
        for block in range(blocks):
            if block % GROUP == 0:
                record, terms_base, lists_base = index.at, index.uint(6), index.uint(6)
                self.groups.append(record)
            first, offset = index.uint(self.key_bytes), index.uint(3)
            widths = [index.uint(1) for _ in range(4)]
            self.index.append((first, terms_base + offset, lists_base, widths))
        entries = transducer(index, self.key_bytes)
        same = f"{len(entries)} entries for {len(self.groups)} groups"
        index.need(len(entries) == len(self.groups), "count", same)
        keys = [int.from_bytes(k.ljust(self.key_bytes, b"\0"), "big") for k, _ in entries]
        index.need(max(keys, default=0) < 1 << self.key_bits, "range", "a separator that is no key")
        in_order = ascends(keys) and [at for _, at in entries] == self.groups
        in_order = in_order and keys[:1] in ([], [0])
        index.need(in_order, "order", "groups that are not in order")
        self.groups = keys
        filter = self.sections["filter"]
        padding, rest = -filter.start % LINE, count % (BLOCK * GROUP)
        lines = count // (BLOCK * GROUP) * 192 + (6 * rest + 511) // 512
        fits = len(filter.data) == padding + LINE * lines
        filter.need(fits, "layout", "not as long as the terms ask for")

    def read_terms(self):
        """Fills `terms` with keys and their documents."""
        terms, index, self.terms = self.sections["terms"], self.sections["term index"], []
        lists_end = 0
        for block, (first, start, lists_base, widths) in enumerate(self.index):
            l, u, v, g = widths
            fits = l <= 63 and v <= 48 and g <= 32
            index.need(fits, "encoding", "widths that no block has")
            after = self.index[block + 1][1] if block + 1 < len(self.index) else len(terms.data)
            is_there = start < after <= len(terms.data)
            index.need(is_there, "order", f"block {block} is nowhere in the terms")
            head = terms.to(start)
            index.need(start == terms.at, "mismatch", f"block {block} is not where it says")
            n = min(self.counts["terms"] - block * BLOCK, BLOCK)
            upper, several = terms.uint(u), terms.column(n, 1)
            places = [bit for bit in range(8 * u) if upper >> bit & 1]
            entries = terms.column(n, l + v)
            flags = terms.column(sum(several), 1)
            gaps = terms.column(len(flags) - sum(flags), g)
            head.need(len(places) == n, "encoding", "not a bit for each key")
            keys = [
                first + (place - i << l) + (entries[i] & (1 << l) - 1)
                for i, place in enumerate(places)
            ]
            last = self.terms[-1][0] if self.terms else -1
            index.need(last < first, "mismatch", f"block {block} begins in the one before")
            head.need(ascends([last] + keys), "order", "keys that do not ascend")
            head.need(keys[-1] < 1 << self.key_bits, "range", f"a key of over {self.key_bits} bits")
            if block % GROUP == 0:
                separator = self.groups[block // GROUP]
                index.need(last < separator <= keys[0], "mismatch", f"block {block} has other keys")
            for key, is_several, entry in zip(keys, several, entries):
                value = entry >> l
                if is_several and flags.pop(0):
                    docs, lists_end = self.list(lists_base + value, lists_end)
                elif is_several:
                    docs = [value, value + gaps.pop(0) + 1]
                else:
                    docs = [value]
                inside = docs[-1] < self.documents
                head.need(inside, "range", f"key {key:#x} in document {docs[-1]}")
                self.terms.append((key, docs))
        terms.end("block")
        self.read_filter()
        self.sections["postings"].to(lists_end).end("list")
        postings = sum(len(docs) for _, docs in self.terms)
        terms.need(postings == self.counts["postings"], "count", f"{postings} postings")

    def read_filter(self):
        filter, keys = self.sections["filter"], [key for key, _ in self.terms]
        padding = filter.take(-filter.start % LINE)
        filter.need(not any(padding), "reserved", "bytes before the first line that are not 0")
        for group in range(0, len(keys), BLOCK * GROUP):
            expected = filter_of(keys[group : group + BLOCK * GROUP])
            found = filter.take(len(expected))
            filter.need(found == expected, "mismatch", "a filter of other keys")

    def list(self, at, expected):
        """A list of the postings section, and where it ends."""
        head = self.sections["postings"].to(at)
        head.need(at == expected, "layout", f"the list before it ends at {expected}")
        cursor = head.to(at)
        df = cursor.varint()
        head.need(df <= self.documents, "range", f"a list of {df} documents")
        head.need(df > 2, "encoding", f"a list of {df} documents")
        if df <= 256:
            docs = [cursor.varint()]
            while len(docs) < df:
                docs.append(docs[-1] + cursor.varint() + 1)
        else:
            bits = cursor.take(cursor.varint())
            docs = roaring(Cursor("postings", cursor.start + cursor.at - len(bits), bits))
            head.need(len(docs) == df, "count", f"a bitmap of {len(docs)} documents, not {df}")
        head.need(docs[-1] < self.documents, "range", f"document {docs[-1]}")
        return docs, cursor.at

    def read_documents(self):
        """Fills `rows` with distinct, tokens, offset and signature of each document."""
        cursor = self.sections["documents"]
        columns = [cursor.column(self.documents, width) for width in self.widths[1:4]]
        self.read_ids(cursor.column((self.documents + IDS - 1) // IDS, self.widths[4]))
        self.read_digests(cursor)
        rows = list(zip(*columns))
        signatures = self.read_signatures(rows) if self.signatures else self.no_signatures(rows)
        self.rows = [[*row, signature] for row, signature in zip(rows, signatures)]
        found = sum(len(row[3]) for row in self.rows), sum(row[1] for row in self.rows)
        counted = self.counts["occurrences"], self.counts["tokens"]
        place = self.sections["documents"]
        place.need(found == counted, "count", f"{found} occurrences and tokens, not {counted}")

    def no_signatures(self, rows):
        """Nothing for each document, if it has as many terms as it says."""
        found = [0] * self.documents
        for _, docs in self.terms:
            for document in docs:
                found[document] += 1
        for document, (distinct, _, _) in enumerate(rows):
            place = self.sections["documents"]
            place.need(found[document] == distinct, "mismatch", f"document {document}")
        return [[] for _ in rows]

    def read_signatures(self, rows):
        """The term ordinals and positions of each document."""
        forward = self.sections["forward"]
        signatures, pairs, end = [], set(), 0
        for document, (distinct, tokens, at) in enumerate(rows):
            head = forward.to(at)
            head.need(at == end, "layout", f"the signature before it ends at {end}")
            cursor = forward.to(at)
            n = cursor.varint()
            fits = n <= self.counts["occurrences"]
            head.need(fits, "range", "a signature longer than all together")
            ordinals, positions = [], []
            if n > 0:
                w = cursor.uint(1)
                head.need(w <= 32, "encoding", "positions of more than 32 bits")
                few = self.widths[0] + w > 0 or n <= 65536
                head.need(few, "range", f"{n} occurrences without a byte")
                ordinals = cursor.column(n, self.widths[0])
                for difference in cursor.column(n, w):
                    positions.append((positions or [0])[-1] + difference)
                inside = max(ordinals) < self.counts["terms"]
                head.need(inside, "range", f"term {max(ordinals)}")
                head.need(positions[-1] < tokens, "range", f"position {positions[-1]} of {tokens}")
            end = cursor.at
            place = self.sections["documents"]
            place.need(len(set(ordinals)) == distinct, "mismatch", f"document {document}")
            pairs |= {(ordinal, document) for ordinal in ordinals}
            signatures.append(list(zip(ordinals, positions)))
        forward.to(end).end("signature")
        said = {(i, document) for i, (_, docs) in enumerate(self.terms) for document in docs}
        forward.need(pairs == said, "mismatch", "other fingerprints than the terms have")
        return signatures

    def read_ids(self, places):
        """Fills `ids` with the id and the digest of each document."""
        ids, self.ids = self.sections["ids"], []
        for group, place in enumerate(places):
            head = ids.to(place)
            head.need(ids.at == place, "layout", f"the group before it ends at {ids.at}")
            n = min(self.documents - group * IDS, IDS)
            digests, last = [ids.uint(16) for _ in range(n)], b""
            for digest in digests:
                shared, length = ids.varint(), ids.varint()
                head.need(shared <= len(last), "encoding", f"{shared} bytes of {len(last)}")
                more = ids.take(length)
                longer = last[shared : shared + 1] == more[:1] != b""
                head.need(not longer, "encoding", "an id that begins as more of the one before")
                last = last[:shared] + more
                try:
                    self.ids.append((last.decode(), f"{digest:032x}"))
                except UnicodeDecodeError:
                    head.need(False, "encoding", "an id that is not UTF-8")
        ids.end("id")

    def read_digests(self, cursor):
        """Checks the column that leads from digests to documents."""
        head = cursor.to(cursor.at)
        entries = cursor.column(self.documents, 32 + self.doc_bits)
        head.need(ascends(entries), "order", "digests out of order")
        last = max((entry & (1 << self.doc_bits) - 1 for entry in entries), default=-1)
        head.need(last < self.documents, "range", f"a digest of document {last}")
        lows = (int(digest, 16) % 2**32 for _, digest in self.ids)
        expected = sorted(low << self.doc_bits | doc for doc, low in enumerate(lows))
        head.need(entries == expected, "mismatch", "digests that documents do not have")

    def content(self):
        digits = 2 * self.key_bytes
        header = {"version": self.version, "key_bits": self.key_bits, "documents": self.documents}
        header |= {"config": f"{self.config:016x}", "signatures": self.signatures}
        return {
            "header": header,
            "counts": self.counts,
            "terms": [[f"{key:0{digits}x}", docs] for key, docs in self.terms],
            "documents": [
                [*row[:3], [list(pair) for pair in row[3]], *identity]
                for row, identity in zip(self.rows, self.ids)
            ],
        }


def digest_of(text):
    """A digest of 32 hexadecimal digits."""
    if not (isinstance(text, str) and len(text) == 32 and set(text) <= set("0123456789abcdef")):
        raise Refusal("encoding", "withdrawals", 0, f"{text!r} is no digest")
    return text


def withdrawals(data):
    """The records of a .withdrawn file with tantivy's footer, as far as a writer obeys them."""

    def need(condition, kind, what):
        if not condition:
            raise Refusal(kind, "withdrawals", 0, what)

    need(len(data) >= 8, "bounds", "it has no footer")
    length, magic = int.from_bytes(data[-8:-4], "little"), int.from_bytes(data[-4:], "little")
    need(magic == 1337, "magic", "it does not end as a component of tantivy")
    need(length + 8 <= len(data), "bounds", "the footer begins before the file")
    body, footer = data[: -8 - length], data[len(data) - 8 - length : -8]
    try:
        need(json.loads(footer)["crc"] == zlib.crc32(body), "checksum", "it does not fit")
        need(body.endswith(b"\n"), "encoding", "the last line has no end")
        head, *lines = [json.loads(line) for line in body.decode().splitlines()]
        need(head == {"cento_withdrawals": 1}, "version", "a version that is not 1")
        records = []
        for line in lines:
            signature = line["signature"]
            pairs = [(int(key), position) for key, position in signature["fingerprints"]]
            places = [position for _, position in pairs]
            need(places == sorted(places), "order", "positions do not ascend")
            need(all(at < signature["tokens"] for at in places), "range", "a position is too large")
            need(all(0 <= key < 1 << 64 for key, _ in pairs), "range", "a key is too large")
            records.append({
                "id": line["id"],
                "digest": digest_of(line["digest"]),
                "texts": [digest_of(text["digest"]) for text in line["removed"]],
                "quoting": [digest_of(text["digest"]) for text in line.get("quoting", [])],
                "tokens": signature["tokens"],
                "fingerprints": [[str(key), position] for key, position in pairs],
                "min_resemblance": line["min_resemblance"],
                "min_passage": line["min_passage"],
            })
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal("encoding", "withdrawals", 0, str(error)) from error
    return records


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: reader.py FILE.sig")
    try:
        with open(sys.argv[1], "rb") as file:
            print(json.dumps(Segment(file.read()).content()))
    except (OSError, Refusal) as refusal:
        sys.exit(f"{sys.argv[1]}: {refusal}")

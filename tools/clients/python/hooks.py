"""What requests must keep to that JSON Schema cannot say, for schemathesis.

Only requests that are made to be valid are changed; all of them are sent and checked.
"""

import json
import os
import pathlib

import schemathesis
from hypothesis import strategies as st

SIGNATURE = json.loads(pathlib.Path(os.environ["CENTO_SIGNATURE"]).read_text())
if isinstance(SIGNATURE, list):
    SIGNATURE = SIGNATURE[0]
FIELDS = ("scheme", "analyzer", "key_bits", "frequencies", "tokens", "fingerprints")

# A filter is a query in a language of its own.
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8).map(lambda word: "x" + word)
clauses = st.one_of(
    st.builds("{}:{}".format, words, words),
    st.builds("{}:[{} TO {}]".format, words, st.integers(0, 2000), st.integers(2001, 3000)),
    st.builds("{}:[{} TO *]".format, words, st.integers(0, 3000)),
)
filters = st.recursive(
    clauses,
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner),
    max_leaves=4,
)
schemathesis.openapi.format("cento-filter", filters)


def digits(id_):
    """The id of a document: a number is taken for its decimal digits, also if it has a point."""
    return str(int(id_)) if isinstance(id_, float) else str(id_)


@schemathesis.hook
def map_case(context, case):
    """A signature is made by the scheme of the index; documents of one request have ids of their own."""
    body = case.body
    if not isinstance(body, dict) or case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    if isinstance(body.get("signature"), dict):
        body["signature"] = {name: SIGNATURE[name] for name in FIELDS if name in SIGNATURE}
    if isinstance(body.get("hit"), str) and len(body["hit"]) % 2 == 1:
        body["hit"] = "a"  # which is stored
    if case.operation.path == "/v1/pairs" and isinstance(body.get("documents"), list):
        first = {digits(document["id"]): document for document in reversed(body["documents"])}
        body["documents"] = list(reversed(first.values()))
    return case

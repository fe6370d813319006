"""Uses the client that openapi-python-client generates: adds, searches, compares, removes, counts."""

import inspect
import os

from cento_api import AuthenticatedClient
from cento_api.api.documents import add, remove, stored
from cento_api.api.search import compare, pairs_report, report, search
from cento_api.api.status import stats
from cento_api.models import (
    AddCommit,
    AddResponse,
    Answer,
    CompareRequest,
    CompareResponse,
    DocumentBody,
    DocumentBodyMetaType0,
    DocumentResponse,
    ErrorBody,
    RemoveCommit,
    RemoveRequest,
    RemoveResponse,
    SearchRequest,
    StatsResponse,
    TextOrIdType0,
    TextOrIdType1,
)

TEXT = " ".join(f"word{i}" for i in range(60))
OTHER = " ".join(f"other{i}" for i in range(60))

client = AuthenticatedClient(os.environ["CENTO_URL"], os.environ["CENTO_TOKEN"])

meta = DocumentBodyMetaType0.from_dict({"lang": "en", "year": 2020})
for id_, text in [("a/1", TEXT), ("b", OTHER)]:
    body = DocumentBody(id=id_, text=text, meta=meta)
    added = add.sync(client=client, body=body, commit=AddCommit.WAIT)
    assert isinstance(added, AddResponse), added
    assert added.added == 1 and added.committed

request = SearchRequest(text=TEXT, passages=True, filter_="lang:en", limit=5)
answer = search.sync(client=client, body=request)
assert isinstance(answer, Answer), answer
assert [hit.id for hit in answer.hits] == ["a/1"]
hit = answer.hits[0]
assert hit.containment_of_a == 1.0 and hit.meta["year"] == 2020
assert isinstance(hit.passages, list)
assert hit.passages[0].a == [0, len(TEXT)] and hit.passages[0].similarity == 1.0

found = compare.sync(
    client=client,
    body=CompareRequest(a=TextOrIdType1(id="a/1"), b=TextOrIdType0(text=TEXT), measures=["levenshtein"]),
)
assert isinstance(found, CompareResponse), found
assert found.a == "a/1" and found.b is None and not isinstance(found.measures, type(None))
assert found.resemblance == 1.0

# Two operations that had one name, so that a client had one of them.
assert report is not pairs_report and "/v1/pairs/report" in inspect.getsource(pairs_report)

document = stored.sync(client=client, id="a/1")
assert isinstance(document, DocumentResponse) and document.text == TEXT

missing = search.sync(client=client, body=SearchRequest(id="nobody"))
assert isinstance(missing, ErrorBody) and missing.error.code == "unknown_id"

removed = remove.sync(client=client, body=RemoveRequest(ids=["a/1", "c"]), commit=RemoveCommit.WAIT)
assert isinstance(removed, RemoveResponse), removed
assert removed.removed == 1 and removed.missing == ["c"]

numbers = stats.sync(client=client)
assert isinstance(numbers, StatsResponse), numbers
assert numbers.documents == 1
print(f"python: cento {numbers.version}, {numbers.documents} document left")

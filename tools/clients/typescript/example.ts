// Uses the types that openapi-typescript generates, through openapi-fetch: adds, searches, compares,
// removes, counts.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const { CENTO_URL: baseUrl, CENTO_TOKEN: token } = process.env;
assert(baseUrl && token, "CENTO_URL and CENTO_TOKEN are set");
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths, "application/json">({ baseUrl, headers });

const words = (word: string) => Array.from({ length: 60 }, (_, i) => `${word}${i}`).join(" ");
const [text, other] = [words("word"), words("other")];

for (const body of [
  { id: "a/1", text, meta: { lang: "en", year: 2020 } },
  { id: 7, text: other },
] satisfies components["schemas"]["DocumentBody"][]) {
  const { data: added } = await client.POST("/v1/documents", {
    params: { query: { commit: "wait" } },
    body,
  });
  assert(added?.added === 1 && added.committed, "one document is added");
}

const { data: answer } = await client.POST("/v1/search", {
  body: { text, passages: true, filter: "lang:en", limit: 5 },
});
assert(answer, "the search is answered");
assert.deepEqual(answer.hits.map((hit) => hit.id), ["a/1"]);
const [hit] = answer.hits;
assert(hit?.containment_of_a === 1 && hit.meta["year"] === 2020);
assert.deepEqual(hit.passages?.[0]?.a, [0, text.length]);

const { data: compared } = await client.POST("/v1/compare", {
  body: { a: { id: "a/1" }, b: { text }, measures: ["levenshtein"] },
});
assert(compared?.a === "a/1" && compared.b === null && compared.resemblance === 1);
assert.equal(compared.measures?.["levenshtein"], 1);

const { data: stored } = await client.GET("/v1/documents/{id}", {
  params: { path: { id: "7" } },
});
assert.equal(stored?.text, other);

const { error, response } = await client.POST("/v1/search", { body: { id: "nobody" } });
assert(response.status === 404 && error?.error.code === "unknown_id");

const { data: removed } = await client.POST("/v1/remove", {
  params: { query: { commit: "wait" } },
  body: { ids: ["a/1", "c"] },
});
assert(removed?.removed === 1);
assert.deepEqual(removed.missing, ["c"]);

const { data: numbers } = await client.GET("/v1/stats");
assert(numbers?.documents === 1);
console.log(`typescript: cento ${numbers.version}, ${numbers.documents} document left`);

// Similarities of all pairs of programs by dolos-core, for `cento-research programs --other`.
//
//     npm install --ignore-scripts @dodona/dolos-core
//     node by_dolos.mjs tokens.json > dolos.tsv
//
// A copy of this file stands beside that node_modules; tokens_for_dolos.py writes tokens.json. The
// k of 23 and w of 17 are Dolos's own, and so is the similarity.

import { readFileSync } from "node:fs";
import { File, FingerprintIndex, Region, TokenizedFile } from "@dodona/dolos-core";

const programs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const files = programs.map(({ path, text, tokens, places }) =>
  new TokenizedFile(new File(path, text), tokens, places.map((place) => new Region(...place))));
const index = new FingerprintIndex(23, 17);
index.addFiles(files);
for (const pair of index.allPairs()) {
  if (pair.similarity > 0) {
    console.log(`${pair.leftFile.path}\t${pair.rightFile.path}\t${pair.similarity}`);
  }
}

"""The trees of Java programs as the tokens of Dolos, for by_dolos.mjs.

dolos-lib does this with parsers that are compiled as it is installed; dolos-core, which compares,
needs no compiler. As in its CodeTokenizer a node is `(`, its kind, its named children, `)`, and
comments are left out.

    VENV/bin/pip install tree_sitter tree_sitter_java
    VENV/bin/python research/programs/tokens_for_dolos.py DIR > tokens.json
"""

import json
import sys
from pathlib import Path

import tree_sitter_java
from tree_sitter import Language, Parser

parser = Parser(Language(tree_sitter_java.language()))


def walk(node, tokens, places):
    if "comment" in node.type:
        return
    place = [*node.start_point, *node.end_point]
    for token in ("(", node.type):
        tokens.append(token)
        places.append(place)
    for child in node.named_children:
        walk(child, tokens, places)
    tokens.append(")")
    places.append(place)


root, found = Path(sys.argv[1]), []
for path in sorted(path for path in root.rglob("*") if path.is_file()):
    text, tokens, places = path.read_bytes(), [], []
    walk(parser.parse(text).root_node, tokens, places)
    found.append({"path": str(path.relative_to(root)), "text": text.decode(), "tokens": tokens, "places": places})
json.dump(found, sys.stdout)

import sys

from tree import insert, walk

root = None
for word in sys.stdin.read().lower().split():
    root = insert(root, word)
for number, word in sorted(walk(root), reverse=True)[:10]:
    print(word, number)

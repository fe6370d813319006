def put(node, item):
    if node is None:
        return [item, 1, None, None]
    if item == node[0]:
        node[1] += 1
    else:
        way = 2 if item < node[0] else 3
        node[way] = put(node[way], item)
    return node


def walk(node):
    if node is not None:
        yield from walk(node[2])
        yield node[1], node[0]
        yield from walk(node[3])


import sys

top = None
for line in sys.stdin:
    for item in line.split(" "):
        top = put(top, item.strip().upper())
best = list(walk(top))
best.sort(key=lambda entry: (-entry[0], entry[1]))
while best and len(best) > 10:
    best.pop()
for entry in best:
    print(entry[1], "occurs", entry[0], "times")

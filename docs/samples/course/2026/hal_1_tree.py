def insert(tree, word):
    if tree is None:
        return [word, 1, None, None]
    if word == tree[0]:
        tree[1] += 1
    else:
        side = 2 if word < tree[0] else 3
        tree[side] = insert(tree[side], word)
    return tree


def walk(tree):
    if tree is not None:
        yield from walk(tree[2])
        yield tree[1], tree[0]
        yield from walk(tree[3])

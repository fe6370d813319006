import sys

letters = "abcdefghijklmnopqrstuvwxyz"
found = {}
word = ""
with open(sys.argv[1]) as file:
    while True:
        c = file.read(1).lower()
        if c and c in letters:
            word += c
            continue
        if word:
            found.setdefault(word, 0)
            found[word] += 1
            word = ""
        if not c:
            break
for i in range(10):
    best = max(found, key=found.get, default=None)
    if best is None:
        break
    print(best, found.pop(best))

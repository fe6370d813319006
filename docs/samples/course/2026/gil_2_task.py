import sys
from itertools import groupby

with open(sys.argv[1]) as file:
    words = sorted(file.read().lower().split())
groups = [(len(list(same)), word) for word, same in groupby(words)]
groups.sort(reverse=True)
try:
    limit = int(sys.argv[2])
except IndexError:
    limit = 20
print("\n".join(f"{word}: {number}" for number, word in groups[:limit]))

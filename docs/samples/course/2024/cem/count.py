import re
import sys
from collections import Counter

words = Counter()
for name in sys.argv[1:]:
    text = open(name).read()
    words.update(re.findall(r"[a-z']+", text.lower()))
print("most frequent words:")
for rank, (word, count) in enumerate(words.most_common(10), start=1):
    print(rank, word, count)
if not words:
    print("there are no words", file=sys.stderr)
    sys.exit(1)

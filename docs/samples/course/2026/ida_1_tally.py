import sys


class Tally:
    def __init__(self):
        self.known = []
        self.seen = []

    def add(self, word):
        if word in self.known:
            self.seen[self.known.index(word)] += 1
        else:
            self.known.append(word)
            self.seen.append(1)

    def next(self):
        at = self.seen.index(max(self.seen))
        return self.known.pop(at), self.seen.pop(at)


tally = Tally()
for word in sys.stdin.read().split():
    tally.add(word.casefold())
while tally.known:
    word, number = tally.next()
    print(word, number)

import sys


class WordCount:
    def __init__(self):
        self.words = []
        self.numbers = []

    def add(self, word):
        if word in self.words:
            self.numbers[self.words.index(word)] += 1
        else:
            self.words.append(word)
            self.numbers.append(1)

    def best(self):
        at = self.numbers.index(max(self.numbers))
        return self.words.pop(at), self.numbers.pop(at)


count = WordCount()
for word in sys.stdin.read().split():
    count.add(word.casefold())
while count.words:
    word, number = count.best()
    print(word, number)

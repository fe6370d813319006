# Counts the words of a file.
import sys


def count_words(path):
    counts = {}
    with open(path) as file:
        for line in file:
            for word in line.lower().split():
                word = word.strip(".,;:!?")
                if word:
                    counts[word] = counts.get(word, 0) + 1
    return counts


def main():
    counts = count_words(sys.argv[1])
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    for word, number in ranked[:10]:
        print(f"{number:6} {word}")


main()

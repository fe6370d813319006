"""My own word counter."""
import sys


def frequencies(filename):
    # A dictionary from words to numbers.
    table = {}
    with open(filename) as handle:
        for row in handle:
            for token in row.lower().split():
                token = token.strip(".,;:!?")
                if token:
                    table[token] = table.get(token, 0) + 1
    return table


def start():
    table = frequencies(sys.argv[1])
    best = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    for token, total in best[:10]:
        print(f"{total:6} {token}")


start()

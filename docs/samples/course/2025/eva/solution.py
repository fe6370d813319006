from pathlib import Path


def normal(word):
    return "".join(c for c in word.lower() if c.isalpha())


def top(path, limit):
    words = [normal(word) for word in Path(path).read_text().split()]
    different = set(words) - {""}
    return sorted(different, key=words.count, reverse=True)[:limit]


if __name__ == "__main__":
    path = input("file: ")
    limit = int(input("how many: "))
    for word in top(path, limit):
        print(word)

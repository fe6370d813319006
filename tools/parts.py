"""The output that tools/parts.sh compares: answers and pairs, without parts that may differ between equal indexes."""

import json
import random
import subprocess
import sys

QUERIES = 300
# Sides of a pair, which depend on where its documents are stored.
SIDES = {"a": "b", "containment_of_a": "containment_of_b"}


def queries(corpus, out):
    with open(corpus, encoding="utf-8") as lines:
        lines = lines.readlines()
    random.seed(1)
    chosen = random.sample(lines, min(QUERIES, len(lines)))
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(chosen)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        sys.exit(f"{command} ended with {done.returncode}")
    return done.stdout.decode().splitlines()


def answers(cento, index, path):
    for line in run(cento, "search", index, path, "--limit", "20", "--passages", "--format", "json"):
        answer = json.loads(line)
        del answer["took_us"]
        # Which lists are read depends on the segments.
        answer["query"].pop("postings", None)
        print(json.dumps(answer, sort_keys=True))


def pairs(cento, index, *thresholds):
    found = []
    for line in run(cento, "pairs", index, *thresholds, "--format", "json"):
        pair = json.loads(line)
        if pair["a"] > pair["b"]:
            for one, other in SIDES.items():
                pair[one], pair[other] = pair[other], pair[one]
        pair = {key: pair[key] for key in (*SIDES, *SIDES.values(), "overlap", "resemblance")}
        found.append(json.dumps(pair, sort_keys=True))
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    {"queries": queries, "answers": answers, "pairs": pairs}[sys.argv[1]](*sys.argv[2:])

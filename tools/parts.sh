#!/usr/bin/env bash
# Is an index that was built in parts and merged the one that is built at once? For each corpus, a file of
# JSON lines: builds it at once and in 1, 4 and 16 parts, merges these, and compares all answers to 300 of its
# documents as queries and all pairs. Prints a row of a table for each; docs/howto/parts.md has the result. PAIRS
# are the thresholds of pairs, or `none`: a large corpus of copies has too many.
#
#     tools/parts.sh target/release/cento WORK CORPUS.jsonl...
set -euo pipefail
mkdir -p "$2"
cento=$(realpath "$1") work=$(realpath "$2")
shift 2
mapfile -t corpora < <(realpath "$@")
PAIRS=${PAIRS:---min-resemblance 0.3}
here=$(cd "$(dirname "$0")" && pwd)

# The wall time of a command in seconds, in `took`; its output goes to the log.
timed() {
    local begun
    begun=$(date +%s.%N)
    "$@" >>"$work/log" 2>&1
    took=$(python3 -c "import time; print(f'{time.time() - $begun:.1f}')")
}

pairs() { [[ $PAIRS == none ]] || python3 "$here/parts.py" pairs "$cento" "$1" $PAIRS; }

echo "| corpus | parts | built | merged | linked (--move) | merged again | compacted | answers | pairs |"
echo "|---|---|---|---|---|---|---|---|---|"
for corpus in "${corpora[@]}"; do
    name=$(basename "$corpus" .jsonl)
    dir=$work/$name
    rm -rf "$dir"
    mkdir "$dir"
    cd "$dir"
    python3 "$here/parts.py" queries "$corpus" queries.jsonl
    timed "$cento" add one.idx "$corpus"
    built=$took
    python3 "$here/parts.py" answers "$cento" one.idx queries.jsonl >one.answers
    pairs one.idx >one.pairs
    echo "| $name | none | $built | | | | | $(wc -l <one.answers) | $(wc -l <one.pairs) |"
    for parts in 1 4 16; do
        rm -rf part-* all.idx linked.idx
        split -n "l/$parts" -d --additional-suffix=.jsonl "$corpus" part-
        build() { for part in part-*.jsonl; do "$cento" add "${part%.jsonl}.idx" "$part"; done; }
        timed build
        built=$took
        timed "$cento" merge all.idx part-*.idx
        merged=$took
        timed "$cento" merge all.idx part-*.idx
        again=$took
        python3 "$here/parts.py" answers "$cento" all.idx queries.jsonl >all.answers
        pairs all.idx >all.pairs
        answers=$(cmp -s one.answers all.answers && echo equal || echo DIFFERENT)
        pairs=$(cmp -s one.pairs all.pairs && echo equal || echo DIFFERENT)
        timed "$cento" merge linked.idx part-*.idx --move
        linked=$took
        timed "$cento" compact all.idx
        echo "| $name | $parts | $built | $merged | $linked | $again | $took | $answers | $pairs |"
    done
done

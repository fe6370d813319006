#!/usr/bin/env bash
# Two indexes are built apart, merged, published in a directory, and followed by a service, which then
# follows a later push. Takes the command as its argument, or builds it; leaves nothing behind.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [[ $# -gt 0 ]]; then
    cento=$(realpath "$1")
else
    cargo build --release --locked --manifest-path "$root/Cargo.toml"
    cento=$(realpath "${CARGO_TARGET_DIR:-$root/target}")/release/cento
fi
work=$(mktemp -d)
service=
trap '[[ -z $service ]] || kill "$service" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"

step() { printf '\n$ cento %s\n' "$*"; "$cento" "$@"; }

step add docs.idx "$root/docs" --exclude samples --exclude images
step add source.idx "$root/src/index"
step merge all.idx docs.idx source.idx
step store push all.idx store
printf '\n$ cento serve copy --follow store &\n'
"$cento" serve copy --follow store --follow-interval 200ms --listen 127.0.0.1:0 2>service.log &
service=$!
until [[ -f copy/.service.json ]]; do
    kill -0 "$service" || { cat service.log; exit 1; }
    sleep 0.1
done
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' copy/.service.json)
head -c 2000 "$root/docs/DESIGN.md" >quote.txt
step search --url "$url" --limit 2 quote.txt

step add all.idx "$root/README.md"
step store push all.idx store
until "$cento" search --url "$url" --limit 1 "$root/README.md" --min-containment 0.99 >found.txt; do
    sleep 0.1
done
printf '\nthe follower serves the second push:\n'
cat found.txt
step store history store

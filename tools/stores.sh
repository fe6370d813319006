#!/usr/bin/env bash
# The promises of docs/concepts/promises.md about stores, against an S3 server on this machine: moto, which has
# conditional writes, in an environment of its own below target/. Arguments go to `cento-tools stores`:
#
#     tools/stores.sh all                    # 25 minutes; 10 of them followers under load
#     tools/stores.sh load --seconds 60
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?one of all, conditions, damage, races, kills, load}
shift
target=${CARGO_TARGET_DIR:-target}/stores
if [[ ! -x $target/python/bin/moto_server ]]; then
    python3 -m venv "$target/python"
    "$target/python/bin/pip" install --quiet 'moto[server]>=5.1,<6'
fi
cargo build --release --locked --package cento-cli --features cloud --package cento-tools --target-dir "$target/build"

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
port=$("$target/python/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$target/python/bin/moto_server" --host 127.0.0.1 --port "$port" >"$work/server.log" 2>&1 &
server=$!
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_ALLOW_HTTP=true
export AWS_ENDPOINT=http://127.0.0.1:$port
bucket="import urllib.request as r; r.urlopen(r.Request('$AWS_ENDPOINT/cento', method='PUT'))"
until "$target/python/bin/python" -c "$bucket" 2>/dev/null; do
    kill -0 "$server" || { cat "$work/server.log"; exit 1; }
    sleep 0.1
done
"$target/build/release/cento-tools" stores "$what" s3://cento/trial --work "$work/indexes" \
    --cento "$target/build/release/cento" "$@"

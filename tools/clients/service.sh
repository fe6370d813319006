# Sourced by the scripts beside it: a service over a new index, for as long as the script runs.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/tools/clients
work=$root/target/clients
document=$root/crates/cento-serve/openapi.json
mkdir -p "$work"

cento=${CENTO:-$root/target/debug/cento}
if ! [[ -x $cento ]]; then
    echo "there is no $cento: build it with \`cargo build\`, or name another in CENTO" >&2
    exit 2
fi

scratch=$(mktemp -d)
service=
export CENTO_TOKEN=a-token-for-tests-0123456789

stop_service() {
    if [[ -n $service ]]; then
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
        service=
    fi
}
trap 'stop_service; rm -rf "$scratch"' EXIT

# Starts a service over a new, empty index; CENTO_URL says where.
start_service() {
    stop_service
    rm -rf "$scratch/index"
    "$cento" create "$scratch/index" >/dev/null
    echo "write client $CENTO_TOKEN" >"$scratch/tokens"
    "$cento" serve "$scratch/index" --listen 127.0.0.1:0 --tokens "$scratch/tokens" --log json \
        2>"$scratch/log" &
    service=$!
    CENTO_URL=
    while [[ -z $CENTO_URL ]]; do
        if ! kill -0 "$service" 2>/dev/null; then
            echo "the service did not begin:" >&2
            cat "$scratch/log" >&2
            exit 1
        fi
        sleep 0.05
        CENTO_URL=$(grep -o 'http://127[0-9.:]*' "$scratch/log" | head -n 1 || true)
    done
    export CENTO_URL
}

# The document of the running service is the one that is committed.
check_document() {
    curl --silent --fail "$CENTO_URL/openapi.json" | python3 -c '
import json, sys
served, committed = json.load(sys.stdin), json.load(open(sys.argv[1]))
sys.exit(0 if served == committed else "crates/cento-serve/openapi.json is not what the service serves")
' "$document"
}

has() {
    command -v "$1" >/dev/null
}

# Python with the packages of requirements.txt; fails without Python, or if they cannot be installed.
python_tools() {
    has python3 || return 1
    if ! cmp --silent "$here/python/requirements.txt" "$work/venv/requirements.txt"; then
        python3 -m venv "$work/venv" &&
            "$work/venv/bin/pip" --quiet install --requirement "$here/python/requirements.txt" &&
            cp "$here/python/requirements.txt" "$work/venv/requirements.txt"
    fi
}

passed=0 failed=0 skipped=0

# The parts to run: those that the script is given, or all.
wanted=" $* "

# Runs a part in a shell of its own, if it is wanted, and says how it ended: key, name, function.
part() {
    local key=$1 name=$2
    if [[ $wanted != "  " && $wanted != *" $key "* ]]; then
        return
    fi
    printf '\n== %s\n' "$name"
    # Not as a condition: there `set -e` would not hold.
    set +e
    (
        set -e
        "$3"
    )
    local status=$?
    set -e
    case $status in
        0) passed=$((passed + 1)) && echo "== $name: passed" ;;
        77) skipped=$((skipped + 1)) && echo "== $name: SKIPPED" ;;
        *) failed=$((failed + 1)) && echo "== $name: FAILED" ;;
    esac
}

# Leaves a part for want of a tool.
skip() {
    echo "missing: $*"
    exit 77
}

# Ends the script: 0 if what ran has passed, 77 if nothing could run.
summary() {
    printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
    if ((failed == 0 && passed == 0)); then
        ((skipped)) || echo "there is no such part:$wanted" >&2
        exit 77
    fi
    ((failed == 0))
}

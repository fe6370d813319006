#!/usr/bin/env bash
# Are the files here what Kubernetes, docker compose, Prometheus, nginx and the command take? kubernetes.yaml is
# compared with the schemas of the API, compose.yaml with that of compose, and the arguments of every container
# with the command that is given, or built; alerts.yaml is tested, and the queries of grafana.json are parsed.
# Python's packages go below target/.
#
#     deploy/check.sh [CENTO]
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
python=$target/deploy/bin/python
if [[ ! -x $target/deploy/bin/kubernetes-validate ]]; then
    python3 -m venv "$target/deploy"
    "$python" -m pip install --quiet 'kubernetes-validate>=1.30' pyyaml
fi
if [[ $# -gt 0 ]]; then
    cento=$(realpath "$1")
else
    cargo build --release --locked --package cento-cli --features cloud
    cento=$target/release/cento
fi

validate() { "$target/deploy/bin/kubernetes-validate" --strict --quiet "$1"; }
validate deploy/kubernetes.yaml
# The schemas are in use only if they refuse a mistake.
wrong=$(mktemp --suffix=.yaml)
trap 'rm -f "$wrong"' EXIT
sed 's/podManagementPolicy/podManagmentPolicy/' deploy/kubernetes.yaml >"$wrong"
if validate "$wrong" >/dev/null 2>&1; then
    echo "a misspelt field is not noticed" >&2
    exit 1
fi
echo "kubernetes.yaml: valid"

if docker compose version >/dev/null 2>&1; then
    docker compose -f deploy/compose.yaml config --quiet && echo "compose.yaml: valid"
elif command -v docker-compose >/dev/null; then
    docker-compose -f deploy/compose.yaml config --quiet && echo "compose.yaml: valid"
else
    echo "compose.yaml: not checked, because docker compose is missing"
fi

if command -v promtool >/dev/null; then
    promtool check rules deploy/alerts.yaml >/dev/null
    promtool test rules deploy/alerts_test.yaml >/dev/null
    echo "alerts.yaml: valid, and tested"
    # A query of the board is one of a rule, except for the variables that Grafana replaces.
    queries=$(mktemp --suffix=.yaml)
    trap 'rm -f "$wrong" "$queries"' EXIT
    "$python" - >"$queries" <<'PYTHON'
import json

import yaml

with open("deploy/grafana.json", encoding="utf-8") as file:
    panels = json.load(file)["panels"]
queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
queries = [query.replace("$__rate_interval", "5m") for query in queries]
rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
print(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
PYTHON
    echo "grafana.json: $(promtool check rules "$queries" | grep -o '[0-9]* rules found' | grep -o '[0-9]*') queries are valid"
else
    echo "alerts.yaml and grafana.json: not checked, because promtool is missing (Debian: prometheus)"
fi

nginx=$(PATH=$PATH:/usr/sbin command -v nginx || true)
if [[ -n $nginx ]]; then
    place=$(mktemp -d)
    trap 'rm -rf "$wrong" "${queries:-}" "$place"' EXIT
    printf 'pid nginx.pid;\nevents {}\nhttp {\n    access_log off;\n    include %s;\n}\n' \
        "$PWD/deploy/nginx.conf" >"$place/nginx.conf"
    "$nginx" -t -q -e stderr -p "$place" -c nginx.conf && echo "nginx.conf: valid"
else
    echo "nginx.conf: not checked, because nginx is missing"
fi

"$python" - "$cento" <<'PYTHON'
import subprocess
import sys

import yaml

def containers(part):
    """All containers of Kubernetes and services of compose with an image of cento."""
    if isinstance(part, dict):
        if str(part.get("image", "")).split(":")[0] == "cento" and ("args" in part or "command" in part):
            yield part.get("args") or part["command"]
        for value in part.values():
            yield from containers(value)
    elif isinstance(part, list):
        for value in part:
            yield from containers(value)

count = 0
for name in ("deploy/kubernetes.yaml", "deploy/compose.yaml"):
    with open(name, encoding="utf-8") as file:
        for args in containers(list(yaml.safe_load_all(file))):
            # Help comes when all before it has been understood.
            done = subprocess.run([sys.argv[1], *args, "--help"], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{name}: cento {' '.join(args)}: {done.stderr}")
            count += 1
if count < 9:
    sys.exit(f"only {count} containers were found")
print(f"the arguments of {count} containers: understood")
PYTHON

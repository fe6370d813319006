#!/usr/bin/env bash
# The document of the API against the specification, and a running service against its document.
# `EXAMPLES=1000 tools/clients/conformance.sh` makes more requests for each operation.
#
#     tools/clients/conformance.sh [document] [metrics] [requests]
source "$(dirname "$0")/service.sh"

validator() {
    python_tools || skip "python3 with venv, and the packages of tools/clients/python/requirements.txt"
    "$work/venv/bin/openapi-spec-validator" --errors all "$document"
}

metrics() {
    has promtool || skip "promtool (Debian: prometheus)"
    has curl || skip "curl"
    start_service
    local authorization="Authorization: Bearer $CENTO_TOKEN"
    curl --silent --fail --header "$authorization" --json '{"id": "a", "text": "one two three"}' \
        "$CENTO_URL/v1/documents?commit=wait" >/dev/null
    curl --silent --fail --header "$authorization" --header 'Accept: text/plain' "$CENTO_URL/metrics" \
        >"$scratch/metrics"
    promtool check metrics <"$scratch/metrics"
    echo "$(grep -c '^# TYPE' "$scratch/metrics") metrics"
    stop_service
}

requests() {
    python_tools || skip "python3 with venv, and the packages of tools/clients/python/requirements.txt"
    start_service
    echo 'one two three four five six seven eight nine ten eleven twelve' >"$scratch/text"
    # What the hooks ask for.
    printf '{"id": "a", "text": "%s"}\n' "$(cat "$scratch/text")" >"$scratch/documents.jsonl"
    "$cento" add --url "$CENTO_URL" "$scratch/documents.jsonl" >/dev/null
    "$cento" method fingerprint --like "$scratch/index" --format json "$scratch/text" >"$scratch/signature"
    # Its examples are kept in the current directory; the next run must not start from them.
    cd "$scratch"
    CENTO_SIGNATURE=$scratch/signature SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$here/python \
        "$work/venv/bin/schemathesis" run "$CENTO_URL/openapi.json" \
        --header "Authorization: Bearer $CENTO_TOKEN" --checks all \
        --max-examples "${EXAMPLES:-100}" --seed "${SEED:-1}"
    stop_service
}

part document "OpenAPI 3.1: openapi-spec-validator" validator
part metrics "Metrics: promtool" metrics
part requests "Requests: schemathesis, all checks" requests
summary

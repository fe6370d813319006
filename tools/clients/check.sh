#!/usr/bin/env bash
# Clients in Python, Go and TypeScript: generated from crates/cento-serve/openapi.json, type-checked strictly,
# and used against a running service. A missing tool is reported, and its part is skipped.
#
#     tools/clients/check.sh [python] [go] [typescript]
source "$(dirname "$0")/service.sh"

python_client() {
    python_tools || skip "python3 with venv, and the packages of tools/clients/python/requirements.txt"
    local out=$work/python
    rm -rf "$out" && mkdir -p "$out"
    PATH=$work/venv/bin:$PATH openapi-python-client generate --path "$document" --meta none \
        --output-path "$out/cento_api" >"$out/log" 2>&1 || { cat "$out/log"; return 1; }
    # A required body of several types makes the client use names that it does not import (issue 1451 of the generator).
    local file
    while read -r file; do
        sed -i.bak 's/^\(from \.\.\.types import UNSET, Response\)$/\1, Unset/' "$file"
    done < <(grep --recursive --files-with-matches '| Unset = UNSET' "$out/cento_api/api")
    cp "$here/python/"{example.py,mypy.ini} "$out/"
    (cd "$out" && "$work/venv/bin/mypy" example.py cento_api)
    start_service
    (cd "$out" && "$work/venv/bin/python" example.py)
    stop_service
}

go_client() {
    has go || skip "go (Debian: golang-go)"
    has java || skip "java, for openapi-generator (Debian: default-jre-headless)"
    python_tools || skip "python3 with venv, and openapi-generator-cli of PyPI"
    local out=$work/go
    rm -rf "$out" && mkdir -p "$out"
    # An id may be a number too; the Go client has a class for that; here ids are strings.
    "$work/venv/bin/openapi-generator-cli" generate --generator-name go --input-spec "$document" \
        --output "$out/centoapi" --package-name centoapi --git-host example.org --git-user-id cento \
        --git-repo-id centoapi --type-mappings DocumentBodyId=string \
        --global-property apiTests=false,modelTests=false \
        >"$out/log" 2>&1 || { cat "$out/log"; return 1; }
    cp "$here/go/main.go" "$here/go/go.mod" "$out/"
    # Debian's go is older than what the generated module asks for, and compiles it all the same.
    local version
    version=$(go env GOVERSION | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/')
    (cd "$out/centoapi" && go mod edit -go="$version")
    (cd "$out" && go mod edit -go="$version")
    # What the generated code imports: Debian's golang-gopkg-validator.v2-dev where it is, or else
    # what the module proxy has.
    local validator=/usr/share/gocode/src/gopkg.in/validator.v2
    if [[ -d $validator ]]; then
        cp -r "$validator" "$out/validator"
        printf 'module gopkg.in/validator.v2\n\ngo %s\n' "$version" >"$out/validator/go.mod"
        (cd "$out" && go mod edit -replace=gopkg.in/validator.v2=./validator)
    else
        (cd "$out" && go mod download gopkg.in/validator.v2) ||
            skip "gopkg.in/validator.v2 (Debian: golang-gopkg-validator.v2-dev)"
    fi
    (cd "$out" && GOFLAGS=-mod=mod go vet . example.org/cento/centoapi && go build -o example .)
    start_service
    "$out/example"
    stop_service
}

typescript_client() {
    has node && has npm || skip "node and npm"
    local out=$work/typescript
    mkdir -p "$out"
    cp "$here/typescript/"{package.json,tsconfig.json,example.ts} "$out/"
    (cd "$out" && npm install --silent --no-audit --no-fund) || skip "the packages of package.json"
    (cd "$out" && npx openapi-typescript "$document" --output schema.d.ts && npx tsc)
    start_service
    node "$out/build/example.js"
    stop_service
}

start_service
check_document
stop_service
part python "Python: openapi-python-client, mypy --strict" python_client
part go "Go: openapi-generator, go vet" go_client
part typescript "TypeScript: openapi-typescript and openapi-fetch, tsc --strict" typescript_client
summary

#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment, and tests it there: formatting, lints, types,
# pages, tests. Needs Rust and Python 3.10 or later; tools of Python come from PyPI.
#
#   python/check.sh                 builds the wheel
#   python/check.sh WHEEL           tests this one
#
# PYTHON is the interpreter (default: python3); CENTO_CLI the command to compare answers with, best one with the feature
# parquet, without which comparisons of tables are skipped; CENTO_CORPORA JSON lines,
# separated by colons, for more comparisons; CARGO_TARGET_DIR where to build. CENTO_TUTORIAL_MB and
# CENTO_QUERIES make the tests of the tutorial and of threads as large as you like. With CENTO_OTHERS=1 it also installs
# Spark, Ray and the programs that cento is compared with (2 GB; Spark needs Java); without, their tests are skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$*"; "$@"; }

step "${PYTHON:-python3}" -m venv "$work/venv"
bin=$work/venv/bin
[[ -d $bin ]] || bin=$work/venv/Scripts
step "$bin/pip" install -q --disable-pip-version-check mypy myst-parser pyright pytest ruff sphinx \
    datasets duckdb matplotlib numpy pandas polars pyarrow
if [[ ${CENTO_OTHERS:-} == 1 ]]; then
    # datatrove splits words with spaCy, by way of tokenizers, and depends on neither.
    step "$bin/pip" install -q --disable-pip-version-check datasketch rensa text-dedup datatrove spacy tokenizers \
        'ray[data,serve]' pyspark
fi
wheel=${1:-}
if [[ -z $wheel ]]; then
    step "$bin/pip" install -q --disable-pip-version-check 'maturin>=1.9.4,<2'
    step "$bin/maturin" build --release --locked --manifest-path "$here/Cargo.toml" \
        --interpreter "$bin/python" --out "$work/dist"
    wheel=$(echo "$work"/dist/*.whl)
fi
step "$bin/pip" install -q --disable-pip-version-check "$wheel"

step cargo fmt --manifest-path "$here/Cargo.toml" --check
step "$bin/ruff" format --check "$here"
step "$bin/ruff" check "$here"
# Beside the copy, so that the imported package is the wheel.
cp -R "$here/tests" "$here/bench" "$here/docs" "$here/README.md" "$here/pyproject.toml" "$work/"
cp "$here/../docs/tutorials/python.md" "$work/chapter.md"
mkdir -p "$work/book/howto"
cp -R "$here/../docs/samples" "$work/book/"
cp "$here/../docs/howto/parts.md" "$work/book/howto/"
cd "$work"
step "$bin/mypy" --python-executable "$bin/python" tests
step "$bin/mypy" --python-executable "$bin/python" --package cento
# It looks for packages with the first interpreter.
export PATH=$bin:$PATH
step "$bin/pyright" tests
(cd / && step "$bin/pyright" --ignoreexternal --verifytypes cento)
step "$bin/python" -m sphinx -nW -q docs site
step "$bin/python" -m pytest -q tests

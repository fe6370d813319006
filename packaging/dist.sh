#!/usr/bin/env bash
# Builds the archive for users: target/dist-archives/cento-VERSION-TARGET.tar.gz, and its SHA-256 beside it.
#
#   packaging/dist.sh [-t TARGET] [-o DIRECTORY]
#
# TARGET is a target of rustc, or `host`. The default is this machine's architecture with musl, which gives a
# static binary that runs on any Linux; it needs `rustup target add TARGET` and a C compiler for musl
# (Debian and Ubuntu: `apt-get install musl-tools`).
#
# The same commit, compiler and directory of cargo give the same bytes: the archive is sorted, and its
# times are those of the commit (or SOURCE_DATE_EPOCH).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    printf 'dist: %s\n' "$*" >&2
    exit 1
}

host=$(rustc -vV | sed -n 's/^host: //p')
target=${host%%-*}-unknown-linux-musl
out=target/dist-archives
while getopts t:o:h option; do
    case $option in
        t) target=$OPTARG ;;
        o) out=$OPTARG ;;
        *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done
if [[ $target == host ]]; then
    target=$host
fi

[[ -d $(rustc --print target-libdir --target "$target") ]] ||
    fail "the standard library for $target is not installed: rustup target add $target, or build with -t host"
if [[ $target == *-musl ]]; then
    command -v "${target%%-*}-linux-musl-gcc" musl-gcc >/dev/null ||
        fail "there is no C compiler for $target (Debian and Ubuntu: apt-get install musl-tools)"
fi
tar=$(command -v gtar || command -v tar)
"$tar" --version | grep -q 'GNU tar' || fail "GNU tar is needed: others cannot sort an archive"
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} || fail "outside a git checkout, set SOURCE_DATE_EPOCH"
version=$(cargo pkgid --locked -p cento-cli | sed 's/.*[#@]//')
cargo_home=${CARGO_HOME:-$HOME/.cargo}

# Paths of this machine are of no use in the messages of a panic elsewhere, and make the bytes depend on it.
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$cargo_home=cargo --remap-path-prefix=$PWD=cento"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$cargo_home=cargo"
export SOURCE_DATE_EPOCH=$epoch
cargo build --locked --release --target "$target" -p cento-cli -p cento-web --all-features --bin cento --bin cento-web

suffix=
if [[ $target == *-windows-* ]]; then
    suffix=.exe
fi
built=${CARGO_TARGET_DIR:-target}/$target/release
binary=$built/cento$suffix
"$binary" --version >/dev/null || fail "$binary does not run here; build $target on a machine where it does"

name=cento-$version-$target
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
stage=$room/$name
mkdir -p "$stage"/{completions,man,systemd,licenses}
cp "$binary" "$built/cento-web$suffix" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage"
cp packaging/cento.service packaging/cento.sysusers "$stage/systemd"
"$binary" info completions bash >"$stage/completions/cento.bash"
"$binary" info completions zsh >"$stage/completions/_cento"
"$binary" info completions fish >"$stage/completions/cento.fish"
"$binary" info man --out "$stage/man"

# A binary holds its dependencies, and their licenses ask for their notices.
packages=$(cargo tree --locked -p cento-cli -p cento-web -e normal --target "$target" --prefix none --format '{p}|{l}')
packages=$(sed 's/ (proc-macro)//; s/ (\*)$//; /^cento/d' <<<"$packages" | sort -u)
while IFS='|' read -r package license; do
    read -r crate number _ <<<"$package"
    source=$(printf '%s\n' "$cargo_home"/registry/src/*/"$crate-${number#v}" | head -n 1)
    [[ -d $source ]] || fail "the source of $crate ${number#v} is not in $cargo_home/registry"
    printf '%s\n' "$crate ${number#v}: $license" >>"$stage/licenses/PACKAGES.txt"
    find "$source" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'copyright*' \
        -o -iname 'notice*' -o -iname 'unlicense*' \) | sort | while read -r file; do
        printf '\n==== %s %s: %s\n\n' "$crate" "${number#v}" "${file##*/}"
        cat "$file"
    done >>"$stage/licenses/NOTICES.txt"
done <<<"$packages"
library=$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html
[[ -f $library ]] || fail "the toolchain has no $library, the notices of the standard library"
cp "$library" "$stage/licenses/RUST-LIBRARY.html"

chmod -R u=rwX,go=rX "$stage"
mkdir -p "$out"
"$tar" --create --directory "$room" --format=ustar --sort=name --mtime="@$epoch" \
    --owner=0 --group=0 --numeric-owner "$name" | gzip -9 --no-name >"$room/archive"
mv "$room/archive" "$out/$name.tar.gz"
chmod 644 "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
printf '%s\n' "$out/$name.tar.gz" "$out/$name.tar.gz.sha256"

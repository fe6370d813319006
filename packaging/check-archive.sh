#!/usr/bin/env bash
# Installs an archive of dist.sh into an empty root, with no other file of this machine but the samples, and runs every
# command of the table "Which command for my job?" of the README in the archive. Needs Linux with user namespaces.
#
#   packaging/check-archive.sh ARCHIVE.tar.gz
set -euo pipefail
archive=$(realpath "${1:?usage: packaging/check-archive.sh ARCHIVE.tar.gz}")
cd "$(dirname "$0")/.."

fail() {
    printf 'archive: %s\n' "$*" >&2
    exit 1
}

root=$(mktemp -d)
server=
cleanup() {
    # `unshare` ignores a request to end, and its end kills the service.
    [[ -z $server ]] || { kill -KILL "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$root"
}
trap cleanup EXIT
mkdir "$root"/{opt,tmp,proc,dev}
tar -xzf "$archive" --strip-components=1 -C "$root/opt"
cp -R docs/samples "$root/work"
cento=$root/opt/cento
[[ -x $cento ]] || fail "there is no program cento in it"
[[ -s $root/opt/man/cento-search.1 && -s $root/opt/completions/cento.bash ]] || fail "pages or completions are missing"
[[ -s $root/opt/licenses/NOTICES.txt ]] || fail "the notices of its packages are missing"
# A build that is not static needs the libraries of this machine.
{ ldd "$cento" 2>/dev/null || true; } | grep -o '/[^ ]*' | while read -r library; do
    install -D "$library" "$root$library"
done

# With the network of this machine, for the service and its client. Readers of documents run in processes of their own,
# which find the program in /proc.
installed=(env -i HOME=/tmp unshare --user --map-root-user --mount --pid --fork --kill-child
    --mount-proc=/proc --root="$root" --wd=/work /opt/cento)
run() { "${installed[@]}" "$@" </dev/null; }

run --version
! run info formats | grep -B2 'this build does not read it' || fail "it does not read every format"
jobs=$(sed -n '/^## Which command for my job/,/^## Say/p' "$root/opt/README.md" | grep -o '`cento [^`]*`' | tr -d '`')
[[ $(wc -l <<<"$jobs") -ge 16 ]] || fail "its README has no table of jobs"
while read -r _ verb rest; do
    read -ra arguments <<<"$rest"
    if [[ $verb == serve ]]; then
        # Any free port, because another service may have the usual one.
        "${installed[@]}" serve "${arguments[@]}" --listen 127.0.0.1:0 </dev/null >"$root/serve.log" 2>&1 &
        server=$!
        for _ in {1..100}; do
            url=$(grep -o 'http://127[0-9.:]*' "$root/serve.log" | head -n 1 || true)
            [[ -z $url ]] || break
            sleep 0.1
        done
        [[ -n $url ]] || fail "the service does not start: $(cat "$root/serve.log")"
        continue
    fi
    arguments=("${arguments[@]/http:\/\/127.0.0.1:7227/${url:-}}")
    status=0
    run "$verb" "${arguments[@]}" >"$root/out" 2>&1 || status=$?
    ((status == 0)) || fail "cento $verb $rest ended with $status: $(cat "$root/out")"
    printf 'archive: %s\n' "cento $verb $rest: $(wc -l <"$root/out") lines"
done <<<"$jobs"
for report in class.html new.html quiz.html versions.html used.html essay.html; do
    [[ -s $root/work/$report ]] || fail "there is no $report"
done
printf 'archive: %s bytes, its program %s\n' "$(stat -c %s "$archive")" "$(stat -c %s "$cento")"

#!/usr/bin/env bash
# Builds the image, and uses it as its head says: an index is created, the service becomes healthy, answers with a
# token and not without, and stops on SIGTERM. Needs docker and curl.
set -euo pipefail
cd "$(dirname "$0")/.."

tag=cento-check-$$
room=$(mktemp -d)
cleanup() {
    docker rm --force "$tag" >/dev/null 2>&1 || true
    docker volume rm "$tag" >/dev/null 2>&1 || true
    rm -rf "$room"
}
trap cleanup EXIT
fail() {
    printf 'image: %s\n' "$*" >&2
    docker logs "$tag" >&2 || true
    exit 1
}

docker build -f packaging/Dockerfile -t "$tag" .
printf 'read reader reader-%s\n' "$tag" >"$room/tokens"
chmod 644 "$room/tokens"
chmod 755 "$room"
docker run --rm -v "$tag:/var/lib/cento" "$tag" create /var/lib/cento/index
docker run -d --name "$tag" -p 127.0.0.1:0:7227 --read-only --tmpfs /tmp --cap-drop ALL \
    -v "$tag:/var/lib/cento" -v "$room/tokens:/run/secrets/cento-tokens:ro" "$tag" >/dev/null
for _ in {1..60}; do
    health=$(docker inspect --format '{{.State.Health.Status}}' "$tag")
    [[ $health == starting ]] || break
    sleep 1
done
[[ $health == healthy ]] || fail "the service is $health"
url=http://$(docker port "$tag" 7227/tcp | head -n 1)
status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
[[ $(status "$url/v1/stats") == 401 ]] || fail "it answers without a token"
[[ $(status -H "Authorization: Bearer reader-$tag" "$url/v1/stats") == 200 ]] || fail "it refuses a token"
docker stop --time 60 "$tag" >/dev/null
code=$(docker inspect --format '{{.State.ExitCode}}' "$tag")
[[ $code == 0 ]] || fail "it ended with $code on SIGTERM"
docker image inspect --format 'image: {{.Size}} bytes, user {{.Config.User}}' "$tag"

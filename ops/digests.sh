#!/bin/sh
# Pulls the images that the compose files name and writes their digests into .env, so that a tag which is moved changes nothing here. Run it
# before the first start, and again to take fixes of the images or another version: until then the digests of .env win over the tags.
set -eu
umask 077
cd "$(dirname "$0")/.."
. ops/setting.sh

compose='docker-compose.yml ops/compose.watching.yml'
# Lines of name and repository: what is before the colon of the tag.
named=$(sed -n 's|^ *image: \([a-z/-]*\):.*${\([A-Z_]*_DIGEST\):-}$|\2 \1|p' $compose)
base=$(sed -n 's/^ARG NODE_IMAGE=//p' Dockerfile)

# By their tags: a variable of the shell wins over .env.
images=$(
  for name in $(echo "$named" | cut -d' ' -f1); do export "$name="; done
  docker compose -f docker-compose.yml -f ops/compose.watching.yml config --images
)

# The digest of an image, as @sha256:…
digest() {
  docker pull --quiet "$1" >/dev/null
  docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$1" | sed -n "s|^${1%%:*}\(@sha256:[0-9a-f]*\)$|\1|p" | head -n 1 | grep .
}

found=$(echo "$named" | while read -r name repository; do
  image=$(echo "$images" | grep "^$repository:" | head -n 1)
  value=$(digest "$image")
  echo "$name $value"
done)
node=$(digest "$base")

# Only when all are known.
echo "$found" | while read -r name value; do setting "$name" "$value"; done
setting SIMWAY_NODE_IMAGE "$base$node"

#!/bin/sh
# Makes what docker-compose.yml needs and is missing: .env, and a file in secrets/ for each secret. Run it again after every change of either:
# it keeps what exists, moves secrets out of .env into files, and says and mends it when others on this machine can read them.
set -eu
umask 077
cd "$(dirname "$0")/.."

. ops/setting.sh

[ -e .env ] || cp .env.example .env
mkdir -p secrets
find .env secrets -perm -004 | while read -r found; do
  echo "$found: every user of this machine could read it; now only you can. If others use this machine, change the secrets." >&2
done
chmod 600 .env
chmod 700 secrets

sed -n 's/^  \([A-Z_]*\): { file: \(.*\) }$/\1 \2/p' docker-compose.yml ops/compose.watching.yml | while read -r name source; do
  file=secrets/$name
  value=$(sed -n "s/^$name=//p" .env | sed "s/^\(['\"]\)\(.*\)\1\$/\2/")
  if [ -n "$value" ]; then
    printf '%s\n' "$value" >"$file"
    setting "$name" ''
    echo "$name: moved from .env to $file" >&2
  fi
  case $source in
    ./*) [ -s "$file" ] || openssl rand -hex 32 >"$file" ;;
    *) if [ -s "$file" ]; then setting "${name}_FILE" "./$file"; else setting "${name}_FILE" ''; fi ;;
  esac
  # For the containers, which run under other users: their group may read it, and only you come into the folder.
  if [ -e "$file" ]; then chmod 640 "$file"; fi
done
setting SIMWAY_SECRETS_GROUP "$(id -g)"

#!/bin/sh
# For the scripts beside it: sets a line of .env, at its place or at the end.
setting() {
  awk -F= -v name="$1" -v line="$1=$2" '$1 == name { print line; set = 1; next } { print } END { if (!set) print line }' .env >.env.new
  cat .env.new >.env
  rm .env.new
}

#!/bin/sh
# Prints the marker, then each argument on a line of its own. Reads nothing, writes no file, needs no network.
set -eu

printf '%s\n' 'PROWESS_SCRIPT_MARKER_E9810C5F'
for arg in "$@"; do
  printf 'arg: %s\n' "$arg"
done

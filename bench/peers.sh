#!/bin/sh
# Installs the peer tools of bench/src/peers.rs into target/peers.
#
# Peers that are installed in the pinned version are skipped. If a peer cannot be installed, the others still are; it is
# listed at the end, and the benchmark reports it as missing. Exits with 0 if all peers are installed, otherwise with 1.
#
#   bench/peers.sh            install all peers
#   bench/peers.sh skilo      install only these peers
#
# CARGO_JOBS (default 1) is the number of parallel compiler processes. Everything runs under nice.

set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
peers=${PROWESS_PEERS:-$here/../target/peers}
jobs=${CARGO_JOBS:-1}
wanted=" $* "
missing=""

mkdir -p "$peers/versions" || exit 1
peers=$(CDPATH='' cd -- "$peers" && pwd)

# install NAME VERSION FUNCTION: runs FUNCTION NAME VERSION unless that version is installed.
install() {
    case $wanted in
    "  " | *" $1 "*) ;;
    *) return 0 ;;
    esac
    marker=$peers/versions/$1
    if [ "$(cat "$marker" 2>/dev/null)" = "$2" ]; then
        echo "$1 $2: up to date"
        return 0
    fi
    rm -f "$marker"
    if "$3" "$1" "$2" >"$peers/versions/$1.log" 2>&1; then
        echo "$2" >"$marker"
        rm -f "$peers/versions/$1.log"
        echo "$1 $2: installed"
    else
        missing="$missing $1"
        echo "error: cannot install $1 $2; see $peers/versions/$1.log" >&2
    fi
}

from_crates() {
    nice cargo install --root "$peers/cargo" --target-dir "$peers/build/$1" \
        --jobs "$jobs" --locked --force "$1@$2" && rm -rf "$peers/build/$1"
}

from_npm() {
    mkdir -p "$peers/npm" && nice npm install --prefix "$peers/npm" --no-audit --no-fund "$1@$2"
}

from_pypi() {
    { [ -x "$peers/venv/bin/python" ] || nice python3 -m venv "$peers/venv"; } &&
        nice "$peers/venv/bin/python" -m pip install --quiet "$1==$2"
}

install skills-ref 0.1.1 from_pypi
install node 24.21.0 from_npm # skills requires 22.20 or later; both npm peers use this version
install openskills 1.5.0 from_npm
install skills 1.7.4 from_npm
install skills-ref-rs 0.1.1 from_crates
install agent-skills-cli 0.5.0 from_crates
install skilo 0.11.1 from_crates

rmdir "$peers/build" 2>/dev/null
if [ -n "$missing" ]; then
    echo "missing:$missing" >&2
    exit 1
fi

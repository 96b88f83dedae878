#!/bin/sh
# @VERB@ A-B: sets the link between two nodes that ./up runs to "@STATE@", at the end of one of them.
set -eu
PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")"
found=$(awk -v link="${1-}" '$1 "-" $2 == link || $2 "-" $1 == link { print $1, $3 }' links)
if [ -z "$found" ]; then
    echo "@VERB@: no link '${1-}'; there are: $(awk '{ printf "%s-%s ", $1, $2 }' links)" >&2
    exit 2
fi
if ! pid=$(cat up.pid 2>/dev/null) || [ ! -d "/proc/$pid" ]; then
    echo "@VERB@: the nodes do not run; start $PWD/up" >&2
    exit 2
fi
set -- --net --mount
[ "$(readlink "/proc/$pid/ns/user")" = "$(readlink "/proc/$$/ns/user")" ] ||
    set -- --user --preserve-credentials "$@"
exec nsenter --target "$pid" "$@" ip -n "${found% *}" link set "${found#* }" @STATE@

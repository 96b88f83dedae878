#!/bin/sh
# in NODE COMMAND...: runs a command in the namespace of a node that ./up runs.
set -eu
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
node=${1-}
case " @NODES@ " in
*" $node "*) [ -n "$node" ] && [ $# -gt 1 ] ;;
*) false ;;
esac || {
    echo "in: a node and a command are expected; the nodes are @NODES@" >&2
    exit 2
}
shift
if ! pid=$(cat "$here/up.pid" 2>/dev/null) || [ ! -d "/proc/$pid" ]; then
    echo "in: the nodes do not run; start $here/up" >&2
    exit 2
fi
# Only the network is the node's: all files are there, of which ./up hides some from itself.
set -- --net="/proc/$pid/root$(readlink -f /var/run)/netns/$node" "$@"
[ "$(readlink "/proc/$pid/ns/user")" = "$(readlink "/proc/$$/ns/user")" ] ||
    set -- --target "$pid" --user --preserve-credentials "$@"
exec nsenter "$@"

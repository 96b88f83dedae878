#!/bin/sh
# Runs the nodes, each in a network namespace of its own, with a veth pair for each link. Ctrl-C ends all.
set -eu
PATH=$PATH:/usr/sbin:/sbin
if [ "${1-}" != inside ]; then
    here=$(dirname "$0")
    cd "$here"
    if [ -e up.pid ] && [ -d "/proc/$(cat up.pid)" ]; then
        echo "up: process $(cat up.pid) runs these nodes; end it first, or remove $here/up.pid" >&2
        exit 2
    fi
    kinds=-nm
    unshare "$kinds" true 2>/dev/null || kinds=-Urnm
    if ! unshare "$kinds" sh -c 'command -v ip && command -v nsenter && command -v setpriv' >/dev/null; then
        echo "up: namespaces, ip, nsenter and setpriv are needed (Debian: iproute2, util-linux); try as root" >&2
        exit 2
    fi
    if ! unshare "$kinds" sh -c ': <>/dev/net/tun' 2>/dev/null; then
        echo "up: /dev/net/tun is needed, by which programs use the overlay (modprobe tun); try as root" >&2
        exit 2
    fi
    echo $$ >up.pid
    exec unshare "$kinds" ./up inside "$here"
fi

pids=
# shellcheck disable=SC2086 # a word for each process
trap 'trap - EXIT; kill $pids 2>/dev/null || :; wait; rm -f up.pid' EXIT
trap 'exit 0' HUP INT TERM
mount -t tmpfs tmpfs /var/run # where ip keeps namespaces; those of the machine are not touched
for node in @NODES@; do
    ip netns add "$node"
    ip -n "$node" link set lo up
done
while read -r from to link near far; do
    ip -n "$from" link add "$link" type veth peer name "$link" netns "$to"
    ip -n "$from" address add "$near/30" dev "$link"
    ip -n "$to" address add "$far/30" dev "$link"
    ip -n "$from" link set "$link" up
    ip -n "$to" link set "$link" up
done <links
for node in @NODES@; do
    nsenter --net="/var/run/netns/$node" setpriv --pdeathsig TERM @PROGRAM@ node "$node.toml" &
    pids="$pids $!"
done
read -r from to _ <links || :
echo "nodes @NODES@ run; Ctrl-C ends them. Elsewhere:
  $2/status      tells what each does
  $2/cut ${from-A}-${to-B}     cuts a link (all: $2/links)
  $2/mend ${from-A}-${to-B}    mends it
  $2/in ${from-A} COMMAND...    runs a program at a node; the first one's address is 10.9.1.1"
wait

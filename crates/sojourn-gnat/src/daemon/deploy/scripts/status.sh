#!/bin/sh
# Tells what each node does; options are those of `sojourn-gnat status`.
set -u
cd "$(dirname "$0")" || exit
failed=0
for node in @NODES@; do
    @PROGRAM@ status "$node.sock" "$@" || failed=$?
done
exit "$failed"

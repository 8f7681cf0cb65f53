#!/bin/sh
# Runs a command with its output in a log: quietly.sh LOG TITLE COMMAND [ARGUMENT ...]
#
# A terminal shows the elapsed time. If the command fails, the end of the log is printed.
set -u
log=$1
title=$2
shift 2
mkdir -p "$(dirname "$log")"
if [ -t 2 ]; then
    parent=$$
    (
        seconds=0
        while kill -0 "$parent" 2>/dev/null; do
            printf '\r%s (%d s)' "$title" "$seconds" >&2
            sleep 1
            seconds=$((seconds + 1))
        done
    ) &
    clock=$!
else
    clock=""
    echo "$title" >&2
fi
"$@" >"$log" 2>&1
status=$?
if [ -n "$clock" ]; then
    kill "$clock" 2>/dev/null
    wait "$clock" 2>/dev/null
    echo >&2
fi
if [ "$status" -ne 0 ]; then
    tail -n 20 "$log" >&2
    echo "failed with exit code $status; the full output is in $log" >&2
fi
exit "$status"

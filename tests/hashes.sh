#!/bin/sh
# hashes.sh: every case in data/cases after a few steps, in both precisions: a hash over the bits of each field, and the
# numbers of the summary. A change that must not alter results leaves the table as it was, on any device:
#   sh tests/hashes.sh > before                                   with the program as it was
#   sh tests/hashes.sh | diff before -                            with the changed one
# BINNACLE: the program. DEVICE: auto. ONLY: part of a case's path. Never part of the tests; ten minutes on two cores.
set -u
: "${BINNACLE:=build/binnacle}" "${DEVICE:=auto}" "${ONLY:=}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=0
for case in data/cases/*/*.toml; do
    case $case in */cavity-re10000.toml) continue ;; *"$ONLY"*) ;; *) continue ;; esac # minutes a step on a CPU
    solver=$(basename "$(dirname "$case")")
    steps=4
    set --
    case $solver in
    xray) set -- --set source.photons=1e5 ;;
    flood) set -- --set output.ugrid=false ;;
    esac
    case $case in
    */selftest*) steps=1000000 ;;
    */flow/*) steps=10 ;;
    */flood/building.toml) steps=1 ;;
    */flood/*) steps=2 ;;
    esac
    case $case in */flood/selftest*) set -- ;; esac
    for precision in single double; do
        rm -rf "$work/out"
        "$BINNACLE" run "$case" --device "$DEVICE" --steps $steps --set "case.precision=$precision" \
            --set output.pictures=false "$@" --out "$work/out" --quiet --force >"$work/said" 2>&1
        rc=$?
        case $rc in
        0 | 4) ;; # 4: not converged after these few steps
        *)
            echo "$case $precision: exit $rc" && sed 's/^/    /' "$work/said" >&2
            failed=1
            continue
            ;;
        esac
        awk -v what="$case $precision" '
            /^  "[a-z_]*": / { part = $1 }
            part ~ /"(fields|results)":/ && /^    "/ { name = $1; gsub(/[":]/, "", name) }
            part ~ /"results":/ && /^    "[^"]*": [^{[]/ { value = $2; sub(/,$/, "", value); print what, name, value }
            part ~ /"fields":/ && /"hash":/ { match($0, /"hash": *"[^"]*"/); hash = substr($0, RSTART, RLENGTH)
                gsub(/.*: *"|"/, "", hash); print what, name, hash; seen = 1 }
            END { if (!seen) print what ": no fields" }' "$work/out/summary.json"
    done
done
exit $failed

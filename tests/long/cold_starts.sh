#!/bin/sh
# cold_starts.sh: 20 starts at once without any cache, ROUNDS times (50): each ends well, with the same bits.
. tests/cli_lib.subr
case=data/cases/bpm/selftest.toml
hashes() { grep -o '"hash": "[0-9a-f]*"' "$1/summary.json"; }
unset BINNACLE_SELFTEST POCL_CACHE_DIR
"$BINNACLE" run "$case" --out "$work/alone" -q --steps 2 >/dev/null 2>&1
code=$? alone=$(hashes "$work/alone")
ok "one start alone (exit $code)" test $code = 0 -o $code = 4
round=0
while [ $round -lt "${ROUNDS:-50}" ]; do
    round=$((round + 1)) bad=''
    rm -rf "$work/cold" && mkdir "$work/cold"
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        { XDG_CACHE_HOME="$work/cold/cache" CUDA_CACHE_PATH="$work/cold/nvidia" "$BINNACLE" run "$case" --out "$work/cold/$i" \
              -q --steps 2 >"$work/cold/$i.log" 2>&1
          echo $? >"$work/cold/$i.code"; } &
    done
    wait
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        if [ "$(cat "$work/cold/$i.code")" = $code ] && [ "$(hashes "$work/cold/$i")" = "$alone" ]; then continue; fi
        bad="$bad $i: exit $(cat "$work/cold/$i.code") $(tail -n 3 "$work/cold/$i.log");"
    done
    ok "round $round:$bad" test -z "$bad"
done
finish

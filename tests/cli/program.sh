#!/bin/sh
# program.sh: the program in the hands of scripts, batch systems and signals: JSON, folders, two runs at once, INT,
# TERM, USR1 and the file STOP.
. tests/cli_lib.subr
b=$BINNACLE
case=$root/data/cases/flow/selftest.toml

# json WHAT COMMAND...: exits 0 and prints one JSON document
json()
{
    what=$1
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null
    ok "$what exits 0" test $? = 0
    ok "$what is JSON" python3 -m json.tool "$work/out"
}
json 'devices --json' "$b" devices --json
json 'check --json' "$b" check "$case" --json
json 'verify --json' "$b" verify "$case" --json --precision single # what runs below compile, too
"$b" run "$case" --json --out "$work/json" >"$work/out" 2>"$work/err"
ok 'run --json exits 0' test $? = 0
ok 'each of its lines is JSON, the last one the end' python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines and lines[-1]["event"] == "end" and lines[-1]["exit_code"] == 0, lines' "$work/out"
ok 'summary.json is JSON' python3 -m json.tool "$work/json/summary.json"

# --- results that are there, places, environment
expect 6 'force' 'a second run does not overwrite' "$b" run "$case" --out "$work/json"
expect 0 '' '... but with --force' "$b" run "$case" --out "$work/json" --force
mkdir "$work/elsewhere"
expect 0 '' 'from another folder, the case alone' \
    sh -c 'cd "$0" && exec "$1" "$2" --reference' "$work/elsewhere" "$b" "$case"
ok '... writes CASE-NAME.out there' test -s "$work/elsewhere/selftest.out/summary.json"
expect 0 '' 'without HOME' env -u HOME -u XDG_CACHE_HOME "$b" run "$case" --out "$work/homeless"
expect 0 'psi.png' 'plot' sh -c 'exec "$0" plot "$1"/fields/*.vti "$1"/series.csv --out "$1/plots"' "$b" "$work/json"
ok '... draws' sh -c 'ls "$0"/plots/*.png' "$work/json"
expect 0 '0 failed' 'verify' "$b" verify "$case" --precision single
expect 0 'HDF5 [0-9].*GEOS [0-9]' 'the version tells all libraries' "$b" --version
for shell in bash zsh fish; do
    expect 0 'sweep.*|optimize' "completion for $shell" "$b" completion $shell
    ok '... is a script' sh -c '"$0" completion $2 >"$1" && { ! command -v $2 >/dev/null || $2 -n "$1"; }' "$b" "$work/complete" $shell
done
expect 1 'bash, zsh and fish' 'another shell' "$b" completion tcsh
ok 'fish completes options and solvers' sh -c '! command -v fish >/dev/null || fish -c "source $1; complete -C \"binnacle sweep --opt\";
    complete -C \"binnacle new fl\"" | tr -d "\n" | grep -q "^--optimize.*flood.*flow"' sh "$work/complete"
ok 'zsh takes it' sh -c '! command -v zsh >/dev/null || { "$0" completion zsh >"$1" &&
    test "$(zsh -fc "autoload -U compinit; compinit -u -D; source $1; print \$_comps[binnacle]")" = _binnacle; }' "$b" "$work/complete"

# --- a run that would take for ever, ended from outside. PID in $run.
start()
{
    "$b" run "$case" --reference --set stop.steps=100000000 --out "$work/$1" >"$work/out" 2>"$work/err" &
    run=$!
    wait_for "$work/$1" || echo "no folder $1"
    sleep 0.5
}
# ends CODE WHAT: the run ends with that code, its files whole
ends()
{
    wait "$run"
    ok "$2: exit code" test $? = "$1"
    ok "$2: summary" python3 -m json.tool "$work/$3/summary.json"
    ok "$2: no temporary file is left" sh -c '! find "$0" -name "*.tmp*" | grep .' "$work/$3"
}
start int
expect 6 'int' 'a second run in the same folder' "$b" run "$case" --reference --force --out "$work/int"
kill -USR1 "$run"
sleep 0.5
ok 'USR1 prints a status line' grep -Eq 'step' "$work/err"
kill -TERM "$run"
ends 143 TERM int
start stop
: >"$work/stop/STOP"
ends 0 'the file STOP' stop
# INT is ignored in what a script starts in the background, so it is sent from a program that does not.
python3 - "$b" "$case" "$work/sigint" >"$work/out" 2>&1 <<'END'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
child = subprocess.Popen([sys.argv[1], "run", sys.argv[2], "--reference", "--set", "stop.steps=100000000",
                          "--out", sys.argv[3]])
while not os.path.isdir(sys.argv[3]) and child.poll() is None:
    time.sleep(0.05)
time.sleep(0.5)
child.send_signal(signal.SIGINT)
sys.exit(child.wait(30))
END
ok 'INT: exit code' test $? = 130
ok 'INT: summary' python3 -m json.tool "$work/sigint/summary.json"
finish

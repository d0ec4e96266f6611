#!/bin/sh
# progress.sh: a step that takes long shows that it is at work, on a terminal and with --json; the first Ctrl-C is answered at
# once, a second one leaves an end event; colours on a terminal alone, and none with NO_COLOR; the timeline of a profiled run.
. tests/cli_lib.subr
# A step that takes long is one on one thread, too.
export POCL_MAX_PTHREAD_COUNT=1
ok 'a long step, and Ctrl-C' python3 - "$BINNACLE" "$work" <<'PY'
import os, pty, select, signal, sys, time
program, work = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program, [program, "run", "data/cases/xray/selftest.toml", "--out", work + "/out",
                       "--set", "source.photons=1e12", "--set", "source.batch=60000"])
said, sent, end = b"", False, time.time() + 300  # against a hang
while time.time() < end:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        more = os.read(terminal, 4096)
    except OSError:  # the other side is closed
        break
    if not more:
        break
    said += more
    if not sent and b"step 1 is being computed  elapsed " in said:
        # Threads of the driver, which runs its linker from there: Ctrl-C would end that, and PoCL the program.
        tasks = [task for task in os.listdir(f"/proc/{pid}/task") if task != str(pid)]
        masks = [open(f"/proc/{pid}/task/{task}/status").read().split("SigBlk:")[1].split()[0] for task in tasks]
        os.write(terminal, b"\x03")
        sent = True
if time.time() >= end:
    os.kill(pid, signal.SIGKILL)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert sent, said
assert masks and all(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks), masks
assert b"once more: at once" in said, said
assert code == 130, (code, said)
PY
ok '... nothing of that in a file' sh -c '"$0" run data/cases/flow/selftest.toml --reference --steps 3 --out "$1/file" 2>"$1/log" &&
    ! grep -q "being computed" "$1/log"' "$BINNACLE" "$work"
ok 'with --json, too; two interrupts leave an end event' python3 - "$BINNACLE" "$work" <<'PY'
import json, signal, subprocess, sys
program, work = sys.argv[1:]
# A step of minutes on any machine, without a device: nothing in it looks at signals.
run = subprocess.Popen([program, "run", "data/cases/flood/selftest.toml", "--reference", "--json", "--out", work + "/json",
                        "--set", "grid.cells=[400,400]", "--set", "time.interval=60"], stdout=subprocess.PIPE, text=True)
first = json.loads(run.stdout.readline())
assert first["event"] == "progress" and first["computing"] == 1 and first["elapsed"] >= 2, first
run.send_signal(signal.SIGINT)
second = json.loads(run.stdout.readline())  # two seconds later: the first interrupt has come
assert second["elapsed"] >= first["elapsed"] + 2 - 0.1, (first, second)
run.send_signal(signal.SIGINT)
rest = [json.loads(line) for line in run.stdout]
assert run.wait() == 130 and rest[-1]["event"] == "end" and rest[-1]["exit_code"] == 130, rest
PY
ok 'an end event also when a driver ends the program' python3 - "$BINNACLE" "$work" <<'PY'
import json, signal, subprocess, sys
program, work = sys.argv[1:]
run = subprocess.Popen([program, "run", "data/cases/flood/selftest.toml", "--reference", "--json", "--out", work + "/crash",
                        "--set", "grid.cells=[400,400]", "--set", "time.interval=60"], stdout=subprocess.PIPE, text=True)
json.loads(run.stdout.readline())
run.send_signal(signal.SIGABRT)
rest = [json.loads(line) for line in run.stdout]
assert run.wait() == -signal.SIGABRT and rest[-1]["event"] == "end" and rest[-1]["exit_code"] == 134, (run.returncode, rest)
PY
ok 'an end event also for a mistake before --json' sh -c '"$0" run --bogus --json | tail -n 1 |
    python3 -c "import json, sys; assert json.load(sys.stdin)[\"event\"] == \"end\""' "$BINNACLE"
ok 'colours on a terminal, none with NO_COLOR' python3 - "$BINNACLE" <<'PY'
import os, pty, sys
def says(**more):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.argv[1], [sys.argv[1], "run", "nowhere.toml"], dict(os.environ, TERM="xterm", **more))
    said = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        said += more
        if not more:
            break
    os.waitpid(pid, 0)
    return said
assert b"\033[1;31mbinnacle: \033[0mcan't open" in says(), says()
assert b"\033" not in says(NO_COLOR="1"), says(NO_COLOR="1")
PY
# The timeline has every launch that the profile counts, with the same times, and none of a device's queue overlaps another.
"$BINNACLE" run data/cases/flood/selftest.toml --profile --quiet --steps 3 --out "$work/profile" 2>"$work/log"
ok 'a timeline' python3 - "$work/profile" <<'PY'
import json, sys
events = [e for e in json.load(open(sys.argv[1] + "/trace.json"))["traceEvents"] if e["ph"] == "X"]
rows = json.load(open(sys.argv[1] + "/summary.json"))["profile"]
assert any(e["tid"] == 1 for e in events), "no transfers"
for row in rows:
    mine = [e for e in events if e["name"] == row["kernel"]]
    assert len(mine) == row["calls"], (row, len(mine))
    assert abs(sum(e["dur"] for e in mine) - 1e6 * row["seconds"]) <= 1e-3 * len(mine), row  # clocks count nanoseconds
kernels = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["tid"] == 0)
assert all(b[0] >= a[1] - 1e-2 for a, b in zip(kernels, kernels[1:]))  # a clock of 1e5 s in a double: 1.5e-11 s
PY
# On all grids: multigrid's coarsest has a domain of its own.
"$BINNACLE" run data/cases/flow/selftest.toml --profile --quiet --steps 1 --out "$work/grids" 2>"$work/log"
ok 'the profile has what runs on other grids' python3 - "$work/grids" <<'PY'
import json, sys
events = [e["name"] for e in json.load(open(sys.argv[1] + "/trace.json"))["traceEvents"] if e["ph"] == "X"]
rows = json.load(open(sys.argv[1] + "/summary.json"))["profile"]
for kernel in "mg_dense", "mg_down":
    assert [row["calls"] for row in rows if row["kernel"] == kernel] == [events.count(kernel)], kernel
assert "mg_dense" in events
PY
ok 'shares of the bandwidth count what the steps move: not the set-up, nothing if no step was left' python3 - "$BINNACLE" "$work" <<'PY'
import json, subprocess, sys
program, work = sys.argv[1:]
def run(steps, *more):
    subprocess.run([program, "run", "data/cases/flow/selftest.toml", "--out", work + "/rate", "-q", "--steps", str(steps), "--set",
                    "output.pictures=false", "--checkpoint-every", "1000s", *more], check=True)
    s = json.load(open(work + "/rate/summary.json"))
    r = s["rate"]
    return r["share_of_bandwidth_limit"] and r["share_of_bandwidth_limit"] * r["bandwidth_bytes_per_second"] * s["timings"]["steps"]
three, two, one, none = run(3), run(2, "--force"), run(3, "--resume"), run(3, "--resume")
assert abs(one - (three - two)) < 1e-9 * one, (three, two, one)
assert none is None, none
PY
finish

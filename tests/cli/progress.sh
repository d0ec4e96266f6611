#!/bin/sh
# progress.sh: on a terminal a step that takes long shows that it is at work, and the first Ctrl-C is answered at once.
. tests/cli_lib.subr
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
        os.write(terminal, b"\x03")
        sent = True
if time.time() >= end:
    os.kill(pid, signal.SIGKILL)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert sent, said
assert b"once more: at once" in said, said
assert code == 130, (code, said)
PY
ok '... nothing of that in a file' sh -c '"$0" run data/cases/flow/selftest.toml --reference --steps 3 --out "$1/file" 2>"$1/log" &&
    ! grep -q "being computed" "$1/log"' "$BINNACLE" "$work"
finish

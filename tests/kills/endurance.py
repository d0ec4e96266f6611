#!/usr/bin/env python3
"""endurance.py SECONDS: a long run with checkpoints and snapshots, stopped and gone on with at random moments (SIGTERM,
SIGINT, SIGKILL, the file STOP); memory and open files of each process stay what they were when it had settled.
Environment: BINNACLE. The last line is "N passed, N failed"."""
import os, random, shutil, signal, subprocess, sys, tempfile, time

seconds, rnd = float(sys.argv[1]), random.Random(1)
program, work = os.environ["BINNACLE"], tempfile.mkdtemp(prefix="binnacle-endurance-")
out, root, passed, failed, stops = work + "/out", os.getcwd(), 0, 0, 0
case = ["run", root + "/data/cases/flow/convection-ra1e4.toml", "--out", out, "-q", "--resume", "--checkpoint-every", "1s",
        "--set", "output.every=5000", "--set", "output.series_every=1000", "--set", "solver.steady_tolerance=0", "--set", "stop.steps=100000000", "--set", "output.animation=false"]
env = dict(os.environ, BINNACLE_SELFTEST="off", NO_COLOR="1")


def demand(holds, what):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAILED:", what, flush=True)


def look(pid):
    """MiB of memory, open files, threads."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["VmRSS"].split()[0]) / 1024, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])


end, step = time.time() + seconds, 0
try:
    while time.time() < end:
        p = subprocess.Popen([program, *case], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, errors="replace")
        stop, seen = time.time() + rnd.choice([5, 10, seconds / 8, seconds / 4]), []
        began = time.time()
        while time.time() < min(stop, end) and p.poll() is None:
            time.sleep(0.5)
            try:
                seen.append((time.time() - began, *look(p.pid)))
            except (OSError, KeyError, ValueError):
                break
        how = rnd.choice(["STOP", signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
        if how == "STOP":
            with open(out + "/STOP", "w", encoding="utf-8"):
                pass
        else:
            p.send_signal(how)
        try:
            error = p.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            error = p.communicate()[1]
            demand(False, "ended within 60 s")
        stops += 1
        demand(p.returncode in {"STOP": [0], signal.SIGTERM: [143, -15], signal.SIGINT: [130, -2], signal.SIGKILL: [-9]}[how],
               f"{how}: exit {p.returncode}: {error[-300:]}")
        demand("damaged" not in error, error[-300:])
        settled = [s for s in seen if s[0] > max(5, 0.3 * seen[-1][0])] if seen else []
        if len(settled) > 10:
            first, last = settled[:5], settled[-5:]
            grown = max(s[1] for s in last) - max(s[1] for s in first)
            print(f"{seen[-1][0]:.0f} s: {last[-1][1]:.0f} MiB ({grown:+.1f}), {last[-1][2]} files, {last[-1][3]} threads", flush=True)
            demand(grown < 8, f"memory grew by {grown:.1f} MiB in {seen[-1][0]:.0f} s")
            demand(max(s[2] for s in last) <= max(s[2] for s in settled[:10]) + 2, "open files grew")
            demand(max(s[3] for s in last) <= max(s[3] for s in settled[:10]), "threads grew")
        shutil.rmtree(out + "/pictures", ignore_errors=True)
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{stops} stops in {seconds:.0f} s")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

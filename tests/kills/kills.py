#!/usr/bin/env python3
"""kills.py KILLS [SEED [CASE...]]: runs that SIGKILL, SIGTERM or SIGINT ends at random moments, and that are gone on with, end
with the files of an undisturbed one, byte for byte (tests/cli/checkpoints/compare.py), and leave nothing half-written.

KILLS for each case of tests/cli/checkpoints. tests/cli/checkpoints.sh kills once a checkpoint is there; here at any moment:
in the start, in the first checkpoint, in the end. Environment: BINNACLE. The last line is "N passed, N failed"."""
import json, os, random, shutil, signal, subprocess, sys, tempfile, time

kills, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
rnd = random.Random(seed)
folder = os.path.join(os.getcwd(), "tests/cli/checkpoints")
cases = sys.argv[3:] or sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".toml"))
program, work = os.environ["BINNACLE"], tempfile.mkdtemp(prefix="binnacle-kills-")
env = dict(os.environ, BINNACLE_SELFTEST="off", NO_COLOR="1")
ends = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}, signal.SIGINT: {130, -2}}  # - : before the handler was there
passed = failed = 0


def demand(holds, what):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAILED:", what, flush=True)


def begin(case, out, every):
    return subprocess.Popen([program, "run", f"{folder}/{case}.toml", "--out", out, "-q", "--resume", "--checkpoint-every",
                             every], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True, errors="replace")


def whole_files(out):
    for path, _, names in os.walk(out):
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                data = f.read()
            if name.startswith(".binnacle"):
                continue
            if name.endswith(".json"):
                json.loads(data)
            if not data or (name.endswith((".vti", ".vtu", ".pvd")) and not data.endswith(b"</VTKFile>\n")) or (
                    name.endswith(".png") and not data.endswith(b"IEND\xaeB`\x82")):
                return False
    return True


def same(case, out, log):
    p = subprocess.run(["python3", f"{folder}/compare.py", f"{work}/whole-{case}", out], capture_output=True, text=True, check=False)
    demand(p.returncode == 0, f"{case}, seed {seed}, after {log}: other files: {p.stdout[-300:]}{p.stderr[-300:]}")


try:
    for case in cases:
        whole, out, log = f"{work}/whole-{case}", f"{work}/out-{case}", []
        start = time.time()
        p = begin(case, whole, "1000s")
        demand(p.wait() == 0, f"{case}: an undisturbed run: {p.stderr.read()[-300:]}")
        length = time.time() - start
        done = 0
        while done < kills:
            kind = rnd.choice(list(ends))
            p = begin(case, out, rnd.choice(["0.02s", "0.1s", "1s"]))
            try:
                code = p.wait(rnd.uniform(0.02, 1.1 * length))
            except subprocess.TimeoutExpired:
                p.send_signal(kind)
                try:
                    code = p.wait(60)
                except subprocess.TimeoutExpired:
                    p.kill()
                    code = p.wait()
                    demand(False, f"{case}: ended within 60 s of {kind.name}")
                done += 1
            error = p.stderr.read()
            log.append((kind.name, code))
            demand(code in ends[kind] | {0}, f"{case}, seed {seed}, {kind.name} number {done}: exit {code}: {error[-300:]}")
            try:
                good = not os.path.isdir(out) or whole_files(out)
            except ValueError:
                good = False
            demand(good and "damaged" not in error, f"{case}, seed {seed}, {kind.name} number {done}: whole files: {error[-300:]}")
            if code == 0 and done < kills:
                same(case, out, log)
                shutil.rmtree(out)
                log = []
        p = begin(case, out, "1000s")
        demand(p.wait() == 0, f"{case}, seed {seed}: the end: {p.stderr.read()[-300:]}")
        same(case, out, log)
        shutil.rmtree(out)
        print(f"{case}: {kills} killed, {len(log)} in the last run", flush=True)
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

#!/usr/bin/env python3
"""kills.py KILLS [--seed N] [--jobs N] [--seconds S] [--kind KIND] [--boxes N] [CASE...]: runs that end at
random moments, and that are gone on with, end with the files of an undisturbed one, byte for byte
(tests/cli/checkpoints/compare.py), and leave nothing half-written.

KIND signals: by SIGKILL, SIGTERM or SIGINT                     KILLS for each case of tests/cli/checkpoints
     power:   by SIGKILL, after which the folder is what a disk may hold then (power.c): every name and byte that was
              synced; of what was done later some, in the order of each folder; files half-written
     ranks:   two processes of mpirun at once
     sweep:   a sweep of eight points
     ranks-power, sweep-power: these, losing their power
--boxes N: runs are cut into 1 to N boxes, others after each kill.
tests/cli/checkpoints.sh kills once a checkpoint is there; here at any moment: in the start, in the first checkpoint, in
the end. Environment: BINNACLE; BN_FAULTS, a folder with power.so. The last line is "N passed, N failed"."""
import argparse, concurrent.futures, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

parser = argparse.ArgumentParser()
parser.add_argument("kills", type=int)
parser.add_argument("case", nargs="*")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("--boxes", type=int, default=1)
parser.add_argument("--kind", default="signals", choices=["signals", "power", "ranks", "sweep", "ranks-power", "sweep-power"])
a = parser.parse_intermixed_args()
kind, lost = a.kind.split("-")[0], a.kind.endswith("power")
begun = time.time()
folder = os.path.join(os.getcwd(), "tests/cli/checkpoints")
cases = a.case or sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".toml"))
program, work = os.environ["BINNACLE"], tempfile.mkdtemp(prefix="binnacle-kills-")
plain = dict(os.environ, BINNACLE_SELFTEST="off", NO_COLOR="1")
ends = {signal.SIGKILL: {-9, 137}, signal.SIGTERM: {143, -15}, signal.SIGINT: {130, -2}}  # - : before the handler was there
passed = failed = killed = 0
lock = threading.Lock()


def demand(holds, what):
    global passed, failed
    with lock:
        passed, failed = passed + bool(holds), failed + (not holds)
        if not holds:
            print("FAILED:", what, flush=True)


def begin(case, out, every, boxes=1, **more):
    command = [program, "run", f"{folder}/{case}.toml", "--out", out, "-q", "--resume", "--checkpoint-every", every]
    if boxes > 1:
        command += ["--boxes", str(boxes)]
    if kind == "ranks":
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", *command]
    if kind == "sweep":
        command = [program, "sweep", f"{folder}/{case}.toml", "--out", out, "-q", "--reference", "--steps", "3", "--vary",
                   "output.series_every=1:8:8"]
    return subprocess.Popen(command, env=dict(plain, **more), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)


def whole_files(out):
    for path, _, names in os.walk(out):
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                data = f.read()
            if name.startswith(".binnacle") or path.endswith("/checkpoint") and name.endswith(".h5"):
                continue  # the manifest says which parts are whole
            if name.endswith(".json"):
                json.loads(data)
            if not data or (name.endswith((".vti", ".vtu", ".pvd")) and not data.endswith(b"</VTKFile>\n")) or (
                    name.endswith(".png") and not data.endswith(b"IEND\xaeB`\x82")):
                raise ValueError(name)


def kill_all(session):
    """SIGKILL to all processes of a session, whatever groups mpirun has made of them, until none is left."""
    members = [session]
    while members:
        members = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                    state, _, _, own = f.read().rpartition(")")[2].split()[:4]
                if int(own) == session and state != "Z":
                    members.append(pid)
                    os.kill(int(pid), signal.SIGKILL)
            except (OSError, ValueError):
                pass


def end_by(process, how):
    try:
        if how == signal.SIGKILL:
            kill_all(process.pid)
        else:
            process.send_signal(how)
        return process.wait(60)
    except subprocess.TimeoutExpired:
        kill_all(process.pid)
        process.wait()
        return "hang"


def table(out):
    with open(f"{out}/sweep.csv", "rb") as f:
        return f.read()


def same(whole, out, what):
    if kind == "sweep":
        demand(table(whole) == table(out), f"{what}: another table")
        return
    p = subprocess.run(["python3", f"{folder}/compare.py", whole, out], capture_output=True, text=True, check=False)
    demand(p.returncode == 0, f"{what}: other files: {p.stdout[-300:]}{p.stderr[-300:]}")


def lose_power(rnd, out, log):
    """Makes of `out` what a disk may hold; whether a checkpoint was down. Names last that a later sync of their folder
    has made sure of, and some of those done since, in order; a file has what its last sync saw, and perhaps more."""
    synced, names, folders, open_ops, saved = {}, {}, {out}, {}, False
    lines = []
    if os.path.exists(log + "/journal"):
        with open(log + "/journal", encoding="utf-8") as f:
            lines = [line.rstrip("\n").split("\t") for line in f if line.endswith("\n")]
    for path, _, files in os.walk(out + ".before"):  # all of what was there at the last start
        folders.add(os.path.normpath(os.path.join(out, os.path.relpath(path, out + ".before"))))
        for name in files:
            names[os.path.join(out, os.path.relpath(os.path.join(path, name), out + ".before"))] = os.path.join(path, name)

    def do(op):
        if op[0] == "create":
            names[op[1]] = op[2]
        elif op[0] == "mkdir":
            folders.add(op[1])
        elif op[0] == "rename" and op[1] in names:
            names[op[2]] = names.pop(op[1])
        elif op[0] == "unlink":
            names.pop(op[1], None)

    def lasts(path):
        return path == out or path in folders and lasts(os.path.dirname(path))

    now = {}  # inode: what the killed process left there
    for path, _, files in os.walk(out):
        for name in files:
            whole = os.path.join(path, name)
            now[str(os.stat(whole).st_ino)] = whole
    for op in lines:
        if op[0] == "sync":
            synced[op[1]] = log + "/" + op[2]
        elif op[0] == "folder":
            for waiting in open_ops.pop(op[1], []):
                do(waiting)
            saved = saved or op[1].endswith("/checkpoint") and op[1] + "/manifest.json" in names
        elif op[0] in ("create", "mkdir", "rename", "unlink"):
            if op[0] == "create":
                synced.pop(op[2], None)  # the number of a file that is gone
            open_ops.setdefault(os.path.dirname(op[1]), []).append(op)
    for waiting in open_ops.values():
        for op in waiting[:rnd.randint(0, len(waiting))]:
            do(op)
    after = out + ".after"
    os.makedirs(after)
    for name, inode in names.items():
        if not lasts(os.path.dirname(name)):
            continue
        target = os.path.join(after, os.path.relpath(name, out))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        source = inode if "/" in inode else synced.get(inode)
        data = b""
        if source:
            with open(source, "rb") as f:
                data = f.read()
        elif inode in now and rnd.random() < 0.7:
            with open(now[inode], "rb") as f:
                data = f.read()
            data = data[:rnd.randint(0, len(data))]
        with open(target, "wb") as f:
            f.write(data)
    shutil.rmtree(out, ignore_errors=True)
    os.rename(after, out)
    return saved


def chain(case, number, whole, length, boxes, most):
    """A run that is killed until it has ended, and its files."""
    global killed
    rnd = random.Random(f"{a.seed} {case} {number}")
    home, done, log = f"{work}/{case}-{number}", 0, []
    out, journal = home + "/out", home + "/log"
    os.makedirs(home)
    what = ""
    while done < most and time.time() - begun < a.seconds:
        how = signal.SIGKILL if lost or kind == "ranks" else rnd.choice(list(ends))
        more = {}
        if lost:
            shutil.rmtree(journal, ignore_errors=True)
            shutil.rmtree(out + ".before", ignore_errors=True)
            os.makedirs(journal)
            os.makedirs(out, exist_ok=True)
            shutil.copytree(out, out + ".before")
            more = {"LD_PRELOAD": os.environ["BN_FAULTS"] + "/power.so", "BN_POWER_UNDER": out, "BN_POWER_LOG": journal}
        p = begin(case, out, rnd.choice(["0.02s", "0.1s", "1s"]), rnd.randint(1, boxes), **more)
        try:
            code = p.wait(rnd.uniform(0.02, length))
        except subprocess.TimeoutExpired:
            code = end_by(p, how)
            done += 1
            with lock:
                killed += 1
        error = p.stderr.read()
        log.append((how.name, code))
        what = f"{a.kind} {case}, seed {a.seed}, chain {number}, after {log}"
        demand(code in ends[how] | {0} | ({1, 143} if kind == "ranks" else set()), f"{what}: {error[-300:]}")
        demand(lost or "damaged" not in error, f"{what}: {error[-300:]}")
        saved = lost and code != 0 and lose_power(rnd, out, journal)
        try:
            whole_files(out)
        except ValueError as bad:
            demand(False, f"{what}: not whole: {bad}")
        if saved:
            demand(os.path.exists(out + "/checkpoint/manifest.json") or os.path.exists(out + "/checkpoint/manifest-before.json"),
                   f"{what}: the checkpoint is gone")
        if code == 0 and done < most:
            same(whole, out, what)
            shutil.rmtree(out)
            log = []
    p = begin(case, out, "1000s")
    error = p.communicate()[1]
    demand(p.returncode == 0, f"{what}: the end: {p.returncode} {error[-300:]}")
    same(whole, out, what)
    shutil.rmtree(home)


def undisturbed(case):
    whole, most = f"{work}/whole-{case}", 1
    for boxes in (*range(a.boxes, 0, -1), 1):  # the last one finds the kernels compiled
        shutil.rmtree(whole, ignore_errors=True)
        start = time.time()
        p = begin(case, whole, "1000s", boxes)
        error = p.communicate()[1]
        most = max(most, boxes if p.returncode == 0 else 1)  # what can't be cut into so many says so
    demand(p.returncode == 0, f"{case}: an undisturbed run: {error[-300:]}")
    return whole, time.time() - start, most


try:
    if kind == "sweep":
        cases = [c for c in cases if c != "xray"]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        known = dict(zip(cases, pool.map(undisturbed, cases)))
        runs, each = [], 5
        for first in range(0, a.kills, each):
            runs += [pool.submit(chain, case, first // each, *known[case], min(each, a.kills - first)) for case in cases]
        for run in runs:
            run.result()
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{a.kind}: {killed} killed in {len(cases)} cases")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

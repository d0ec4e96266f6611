#!/usr/bin/env python3
"""sweep.py KIND [COUNT] [--seed N] [--jobs N] [--seconds S] [--hang S] [--only WORD]: calls that fail, one after
the other; COUNT of them (0: all), chosen by the seed, so many at once, of commands or solvers with that word, none begun
after so many seconds; what takes longer than --hang (60) hangs.

KIND files:    the n-th open, read, write, fsync, rename, close, mkdir, unlink or mmap below a folder, in run, resume,
               plot, sweep and check, of every kind of output (files.c)
     opencl:   the n-th call of each function, once or from then on, in a run of every solver (opencl.c)
     kernels:  a kernel whose launches do nothing: some self-test case of its solver must tell
     pretend:  devices without double precision, 64-bit atomics or images, with little local or constant memory, small
               work-groups or buffers, one compute unit: the same bits, in both precisions
     delays:   a kernel whose launches begin 20 ms late, each or every second or third one, on one, two or three devices:
               the same bits
     flips:    a bit that turns over in what is read from a device, or on it, in runs as they are and with --guard 1

Demanded: a documented exit code, a message with the reason, nothing half-written under its final name, no false success;
of flips, which have to be seen by no one, that nothing crashes, and a count of those that were.
Environment: BINNACLE; BN_FAULTS, a folder with files.so and opencl.so. Every failure is a line with the command that
repeats it; the last line is "N passed, N failed"."""
import argparse, concurrent.futures, errno, json, os, queue, random, re, shutil, subprocess, sys, tempfile, threading, time

parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=["files", "opencl", "pretend", "kernels", "delays", "flips"])
parser.add_argument("count", type=int, nargs="?", default=0)
parser.add_argument("--only", default="")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("--hang", type=float, default=60)  # of a run that compiles; others take less than a second
a = parser.parse_args()
begun, longest = time.time(), 0
rnd = random.Random(a.seed)
program, shims, root = os.environ["BINNACLE"], os.environ["BN_FAULTS"], os.getcwd()
top = tempfile.mkdtemp(prefix="binnacle-faults-")
here = threading.local()  # .work: the folder of a job
folders = queue.SimpleQueue()
for number in range(a.jobs):
    folders.put(f"{top}/{number:03}")
    os.mkdir(f"{top}/{number:03}")
cases = {s: f"{root}/data/cases/{s}/selftest.toml" for s in ("flow", "flood", "maxwell", "xray", "bpm")}
selftests = {s: sorted(f"{root}/data/cases/{s}/{f}" for f in os.listdir(f"{root}/data/cases/{s}") if f.startswith("selftest"))
             for s in cases}
few = {"flow": 3, "flood": 2, "maxwell": 3, "xray": 2, "bpm": 2}  # steps
exits = {0, 1, 2, 3, 4, 5, 6}


def only(name):
    return a.only in name


def go(arguments, shim=None, **more):
    global longest
    env = dict(os.environ, BINNACLE_SELFTEST="off", NO_COLOR="1", **more)
    if shim:
        env["LD_PRELOAD"] = f"{shims}/{shim}.so"
    start = time.time()
    try:
        p = subprocess.run([program, *arguments], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", timeout=a.hang, check=False)
        return p.returncode, p.stderr
    except subprocess.TimeoutExpired:
        return "hang", ""
    finally:
        longest = max(longest, time.time() - start)


def tree(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                found[os.path.relpath(os.path.join(path, name), folder)] = f.read()
    return found


def hashes(files):
    try:
        return {k: v["hash"] for k, v in json.loads(files["summary.json"])["fields"].items()}
    except (KeyError, ValueError):
        return None


def half(name, data, whole):
    """Whether a file under its final name is not whole."""
    ends = {".png": b"IEND\xaeB`\x82", ".vti": b"</VTKFile>\n", ".vtu": b"</VTKFile>\n", ".pvd": b"</VTKFile>\n", ".csv": b"\n",
            ".svg": b"</svg>\n", ".pdf": b"%%EOF\n"}
    base, ending = os.path.basename(name), os.path.splitext(name)[1]
    if base.startswith(".binnacle"):
        return False
    if ending == ".json":
        try:
            json.loads(data)
        except ValueError:
            return True
    if ending == ".nc" and data != whole.get(name):  # of fewer times, perhaps: those have to be there
        with open(here.work + "/half.nc", "wb") as f:
            f.write(data)
        return go(["plot", here.work + "/half.nc", "--out", here.work + "/half"])[0] != 0
    if ending in (".h5", ".tif"):
        return len(data) == 0 or (name in whole and len(data) != len(whole[name]))
    return len(data) == 0 or not data.endswith(ends.get(ending, b""))


def counts():
    with open(here.work + "/count") as f:
        return [(c, int(n)) for c, n in (line.split() for line in f)]


def fired():
    if not os.path.exists(here.work + "/mark"):
        return False
    os.remove(here.work + "/mark")
    return True


def in_threads(jobs, work):
    """What work(*job) returns for each, in their order; here.work is a folder that no other thread uses meanwhile."""
    def one(job):
        here.work = folders.get()
        try:
            return work(*job)
        finally:
            folders.put(here.work)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        return list(pool.map(one, jobs))


def each(jobs, judged):
    """judged(*job) for the chosen ones."""
    rnd.shuffle(jobs)

    def one(*job):
        if time.time() - begun < a.seconds:
            judged(*job)

    in_threads(jobs[:a.count] if a.count else jobs, one)


lock = threading.Lock()
passed = failed = idle = 0


def judge(why, what):
    global passed, failed
    with lock:
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print("FAILED:", what, "|", "; ".join(why), flush=True)


def ends_well(code, error, why):
    if code == "hang" or code < 0 or code not in exits:
        why.append(f"exit {code}")
    elif code != 0 and len(error.strip()) < 15:
        why.append("no message")


# ---- files

def sweep_files():
    all_files = ["--set", "output.every=1", "--set", "output.tiff=true", "--set", "output.hdf5=true"]
    errors = {"open": "ENOSPC EIO EMFILE EINTR", "read": "EIO EINTR", "write": "ENOSPC EIO EINTR SHORT", "fsync": "EIO ENOSPC EINTR",
              "rename": "ENOSPC EIO", "close": "EIO ENOSPC EINTR", "mkdir": "ENOSPC", "unlink": "EIO", "mmap": "ENOMEM"}
    before = dict.fromkeys(["run", "resume", "plot", "svg", "pdf", "mesh", "sweep", "check"])
    before["resume"] = top + "/begun"

    def command(name):
        case, quiet = here.work + "/flow.toml", ["--out", here.work + "/out", "-q", "--reference"]
        plot = ["plot", here.work + "/plotted.vti", "--out", here.work + "/out"]
        return {"run": ["run", case, *quiet, "--steps", "2", "--checkpoint-every", "1", *all_files],
                "resume": ["run", case, *quiet, "--resume", "--checkpoint-every", "1", *all_files],
                "plot": plot,
                "svg": [*plot, "--format", "svg"],
                "pdf": [*plot, "--format", "pdf"],
                "mesh": ["run", here.work + "/flood.toml", *quiet, "--steps", "2", "--set", "output.every=1", "--set",
                         "output.ugrid=true", "--set", "output.vtk=false", "--set", "output.pictures=false"],
                "sweep": ["sweep", case, *quiet, "--steps", "1", "--vary", "fluid.viscosity=0.1,0.2"],
                "check": ["check", case]}[name]

    def fresh(name):
        out = here.work + "/out"
        shutil.rmtree(out, ignore_errors=True)
        for s in ("flow", "flood"):
            if not os.path.exists(f"{here.work}/{s}.toml"):
                shutil.copy(cases[s], f"{here.work}/{s}.toml")
        if os.path.exists(top + "/plotted.vti"):
            shutil.copy(top + "/plotted.vti", here.work)
        if before[name]:
            shutil.copytree(before[name], out)
        return out

    here.work = folders.get()
    out = fresh("run")
    first = go(command("run"))
    assert first[0] == 0, first
    shutil.copytree(out, top + "/begun")
    shutil.copy(next(f"{out}/fields/{f}" for f in sorted(os.listdir(out + "/fields")) if f.endswith(".vti")), top + "/plotted.vti")
    jobs, whole = [], {}
    for name in filter(only, before):
        fresh(name)
        code, error = go(command(name), "files", BN_FAULT_UNDER=here.work, BN_FAULT_COUNT=here.work + "/count")
        assert code == 0 or (code == 4 and name == "resume"), (name, code, error)
        whole[name] = (code, tree(out))
        for call, n in counts():
            for e in errors[call].split():
                for on in ("", ":on") if e in ("ENOSPC", "EIO") else ("",):
                    jobs += [(name, call, i, e, on) for i in range(1, n + 1)]
    folders.put(here.work)

    def judged(name, call, i, e, on):
        global idle
        out = fresh(name)
        number = -1 if e == "SHORT" else getattr(errno, e)
        spec = f"{call}:{i}:{number}{on}"
        code, error = go(command(name), "files", BN_FAULT_UNDER=here.work, BN_FAULT=spec, BN_FAULT_MARK=here.work + "/mark")
        hit, files, why = fired(), tree(out), []
        idle += not hit
        ends_well(code, error, why)
        before_files = tree(before[name]) if before[name] else {}
        broken = [f for f, data in files.items() if half(f, data, whole[name][1]) and before_files.get(f) != data]
        if broken:
            why.append("half-written " + " ".join(sorted(broken)))
        left = [f for f in files if os.path.basename(f).endswith(".tmp")]
        if left and call != "unlink" and not (call == "open" and on):
            why.append("left " + " ".join(left))
        if code == whole[name][0]:
            missing = sorted(f for f in whole[name][1] if f not in files and "checkpoint/" not in f)
            if missing:
                why.append("success without " + " ".join(missing))
            other = sorted(f for f, data in files.items() if f in whole[name][1] and data != whole[name][1][f]
                           and not re.search(r"summary.json|report.html|lock$|checkpoint/|\.(h5|pdf)$|sweep.csv", f))  # these hold dates
            if other:
                why.append("success with other " + " ".join(other))
            if hit and call in ("write", "fsync", "rename") and e not in ("EINTR", "SHORT"):
                why.append("success")
        elif hit and isinstance(code, int) and code > 0 and number > 0 and os.strerror(number) not in error and not (
                (call == "write" and not on and os.strerror(errno.EIO) in error) or  # stdio lost the reason, and it is gone
                "HDF5" in error):  # which tells none
            why.append("a message without " + os.strerror(number) + ": " + " / ".join(error.strip().split("\n"))[-300:])
        judge(why, f"{name} BN_FAULT={spec}: exit {code}")

    each(jobs, judged)


# ---- OpenCL

codes = {-5: "CL_OUT_OF_RESOURCES", -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -2: "CL_DEVICE_NOT_AVAILABLE",
         -6: "CL_OUT_OF_HOST_MEMORY", -36: "CL_INVALID_COMMAND_QUEUE", -9999: "-9999"}


more_cases = {f"{s}/{c}": f"{root}/data/cases/{s}/selftest-{c}.toml"
              for s, c in (("flow", "step"), ("flow", "fft"), ("flow", "newton"), ("flood", "rain"), ("flood", "order-2"), ("bpm", "space"))}


def command(s, out):
    if s == "optimize":
        return ["sweep", cases["flow"], "--out", out, "-q", "--steps", "1", "--vary", "fluid.viscosity=0.1:0.3", "--optimize",
                "psi_max=max", "--evaluations", "2"]
    s, case = s.split("/")[0], {**cases, **more_cases}[s]
    return ["run", case, "--out", out, "-q", "--force", "--steps", str(few[s]), "--checkpoint-every", "1", "--set",
            "output.pictures=false"]


def counted(s, *more):
    """The run without a fault, of which the calls are counted: its exit code and files."""
    out = here.work + "/out"
    shutil.rmtree(out, ignore_errors=True)
    for _ in range(2):  # the first one compiles
        code, error = go(command(s, out) + list(more), "opencl", BN_FAULT_COUNT=here.work + "/count")
        assert code in (0, 4), (s, code, error)
    return code, tree(out), counts()


def sweep_opencl():
    jobs, whole = [], {}
    solvers = list(filter(only, [*cases, *more_cases, "optimize"]))
    for s, (code, files, calls) in zip(solvers, in_threads([(s,) for s in solvers], counted)):
        whole[s] = (code, hashes(files))
        for call, n in calls:
            jobs += [(s, call, i, e, on) for i in range(1, n + 1) for e in codes for on in ("", ":on")]

    def judged(s, call, i, e, on):
        global idle
        out = here.work + "/out"
        shutil.rmtree(out, ignore_errors=True)
        spec = f"{call}:{i}:{e}{on}"
        code, error = go(command(s, out), "opencl", BN_FAULT=spec, BN_FAULT_MARK=here.work + "/mark")
        hit, files, why = fired(), tree(out), []
        idle += not hit
        ends_well(code, error, why)
        broken = [f for f, data in files.items() if half(f, data, {})]
        if broken:
            why.append("half-written " + " ".join(broken))
        left = [f for f in files if f.endswith(".tmp")]
        if left:
            why.append("left " + " ".join(left))
        if code == whole[s][0]:
            if hashes(files) != whole[s][1]:
                why.append("success with other bits")
        elif s == "optimize":  # points are processes; one that fails is a row with its reason
            pass
        elif hit and code != 3:
            why.append("not exit 3: " + " / ".join(error.strip().split("\n"))[-300:])
        elif hit and codes[e] not in error:
            why.append("a message without " + codes[e] + ": " + " / ".join(error.strip().split("\n"))[-300:])
        elif hit and not on and call not in error:
            why.append(f"a message without {call}: " + " / ".join(error.strip().split("\n"))[-300:])
        judge(why, f"{s} BN_FAULT={spec}: exit {code}")

    each(jobs, judged)


def sweep_pretend():
    facts = ["fp64", "atomics", "images", "local", "groups", "buffers", "lone", "unit", "constants"]
    lacks = [[f for b, f in enumerate(facts) if bits >> b & 1] for bits in range(1, 1 << len(facts))]
    every = [case for s in filter(only, cases) for case in selftests[s]]
    whole, guards = {}, {(case, p): threading.Lock() for case in every for p in ("single", "double")}

    def judged(case, precision, lack, more):
        out, s = here.work + "/out", case.split("/")[-2]
        command = ["run", case, "--out", out, "-q", "--force", "--steps", str(few[s]), "--set", "output.pictures=false",
                   "--set", f"case.precision=\"{precision}\""]
        key = case, precision
        with guards[key]:
            if key not in whole:
                code, error = go(command)
                whole[key] = (code, hashes(tree(out)))
                assert code in (0, 4), (case, code, error)
        shutil.rmtree(out, ignore_errors=True)
        code, error = go(command + more, "opencl", BN_PRETEND=",".join(lack))
        why = []
        ends_well(code, error, why)
        if "transforms are done on the host" in error:  # with the reference's bits, not clFFT's
            verdict, table = go(["verify", case, "--precision", precision, *more], "opencl", BN_PRETEND=",".join(lack))
            if verdict != 0:
                why.append("verify: " + table.strip()[-300:])
        elif code == whole[key][0] and hashes(tree(out)) != whole[key][1]:
            why.append("other bits")
        if code != whole[key][0] and code not in (2, 3):
            why.append(f"exit {code}: {error.strip()[-300:]}")
        if code == 3 and "report" in error:
            why.append(error.strip()[-300:])
        judge(why, f"{case} {precision} BN_PRETEND={','.join(lack)} {' '.join(more)}: exit {code}")

    each([(case, precision, lack, more) for case, precision in guards for lack in lacks
          for more in ([], ["--boxes", "2"], ["--boxes", "3"])], judged)


def sweep_flips():
    """Counts by what was flipped and whether the run was guarded: seen, without effect, unnoticed."""
    jobs, whole, seen = [], {}, {}
    here.work = folders.get()
    for s in filter(only, cases):
        for guard in ((), ("--guard", "1")):
            code, files, calls = counted(s, *guard)
            calls = dict(calls)
            whole[s, guard] = (code, told(files))
            reads = calls.get("clEnqueueReadBuffer", 0) + calls.get("clEnqueueReadBufferRect", 0)
            for what, n in (("read", reads), ("device", calls["clEnqueueNDRangeKernel"])):
                jobs += [(s, guard, what, rnd.randint(1, n), rnd.getrandbits(60)) for _ in range(max(1, (a.count or 2000) // 20))]
    folders.put(here.work)

    def judged(s, guard, what, n, bits):
        global idle
        out = here.work + "/out"
        shutil.rmtree(out, ignore_errors=True)
        spec, why = f"{what}:{n}:{bits}", []
        code, error = go(command(s, out) + list(guard), "opencl", BN_FLIP=spec, BN_FAULT_MARK=here.work + "/mark")
        hit = fired()
        idle += not hit
        ends_well(code, error, why)
        same = code == whole[s, guard][0] and told(tree(out)) == whole[s, guard][1]
        verdict = "without effect" if same else "seen" if code != whole[s, guard][0] else "unnoticed"
        with lock:
            key = (what, "--guard 1" if guard else "as it is", s, verdict)
            seen[key] = seen.get(key, 0) + hit
        judge(why, f"{s} {' '.join(guard)} BN_FLIP={spec}: exit {code}")

    each(jobs, judged)
    for key in sorted(seen):
        print(*key, seen[key], sep=", ")


def told(files):
    """What a run tells: its fields, tables and results."""
    summary = json.loads(files.get("summary.json", b"{}"))
    return ({k: v for k, v in files.items() if not re.search(r"summary.json|report.html|lock$|checkpoint/|\.h5$", k)},
            {k: summary.get(k) for k in ("fields", "results", "steps", "residual", "status")})


def sweep_delays():
    """What a queue has to wait for: other devices' halos, transfers, and the end of what is read."""
    every, whole = [], {}

    def run(s, devices, more=None):
        out = here.work + "/out"
        shutil.rmtree(out, ignore_errors=True)
        many = dict(BINNACLE_PARTITION=str(devices)) if devices > 1 else {}
        code, error = go(command(s, out) + (["--device", "all"] if many else []), "opencl", **many, **(more or {}))
        return code, tree(out), error

    def undisturbed(s, devices):
        code, files, error = run(s, devices)
        assert code in (0, 4), (s, code, error)
        whole[s, devices] = code, hashes(files)
        every.extend((s, devices, row["kernel"], n) for row in json.loads(files["summary.json"])["profile"] for n in (1, 2, 3))

    def judged(s, devices, kernel, n):
        spec, why = f"{kernel}:20:{n}", []
        code, files, error = run(s, devices, dict(BN_DELAY=spec))
        ends_well(code, error, why)
        if (code, hashes(files)) != whole[s, devices]:
            why.append("other bits, or another end: " + error.strip()[-300:])
        judge(why, f"{s} BINNACLE_PARTITION={devices} BN_DELAY={spec}: exit {code}")

    in_threads([(s, devices) for s in filter(only, [*cases, *more_cases]) for devices in (1, 2, 3)], undisturbed)
    each(every, judged)


def sweep_kernels():
    first = ["maxwell_norm", "maxwell_maxima", "flow_total_residual"]  # of flow last: its cases compile longest
    users = {"cg": ["flow"], "multigrid": ["flow"], "spectral": ["flow"], "fft": ["flow", "bpm", "xray"]}
    kernels = [(name, users.get(f[:-3], [f[:-3]])) for f in sorted(os.listdir(root + "/kernels")) if f[:-3] in {**users, **cases}
               for name in re.findall(r"^kernel void (\w+)", open(f"{root}/kernels/{f}", encoding="utf-8").read(), re.M)]
    kernels.sort(key=lambda k: first.index(k[0]) if k[0] in first else len(first))

    def judged(name, solvers):
        told = any(go(["verify", case, "--precision", "single"], "opencl", BN_SKIP=name)[0] != 0
                   for s in solvers for case in selftests[s])
        judge([] if told else ["no self-test case tells"], f"BN_SKIP={name}")

    if a.count:
        del kernels[a.count:]
    each(kernels, judged)


try:
    globals()["sweep_" + a.kind]()
finally:
    shutil.rmtree(top, ignore_errors=True)
if idle:
    print(f"{idle} of them came to no call of that number")
print(f"{a.kind}: the longest took {longest:.1f} s")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

#!/usr/bin/env python3
"""sweep.py KIND [COUNT [SEED]]: calls that fail, one after the other; COUNT of them (0: all), chosen by SEED.

KIND files:    the n-th open, read, write, fsync, rename, close, mkdir, unlink or mmap below a folder, in run, resume,
               plot and check (files.c)
     opencl:   the n-th call of each function, once or from then on, in a run of every solver (opencl.c)
     kernels:  a kernel whose launches do nothing: some self-test case of its solver must tell
     pretend:  devices without double precision, with little local memory, small work-groups or buffers: the same bits

Demanded: a documented exit code, a message with the reason, nothing half-written under its final name, no false success.
Environment: BINNACLE; BN_FAULTS, a folder with files.so and opencl.so. Every failure is a line with the command that
repeats it; the last line is "N passed, N failed"."""
import errno, json, os, random, re, shutil, subprocess, sys, tempfile

kind = sys.argv[1]
most = int(sys.argv[2]) if len(sys.argv) > 2 else 0
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
rnd = random.Random(seed)
program, shims, root = os.environ["BINNACLE"], os.environ["BN_FAULTS"], os.getcwd()
work = tempfile.mkdtemp(prefix="binnacle-faults-")
mark, count = work + "/mark", work + "/count"
cases = {s: f"{root}/data/cases/{s}/selftest.toml" for s in ("flow", "flood", "maxwell", "xray", "bpm")}
few = {"flow": 3, "flood": 2, "maxwell": 3, "xray": 2, "bpm": 2}  # steps
exits = {0, 1, 2, 3, 4, 5, 6}
SECONDS = 60  # a hang; runs take less than a second


def go(arguments, shim=None, **more):
    env = dict(os.environ, BINNACLE_SELFTEST="off", NO_COLOR="1", **more)
    if shim:
        env["LD_PRELOAD"] = f"{shims}/{shim}.so"
    try:
        p = subprocess.run([program, *arguments], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", timeout=SECONDS, check=False)
        return p.returncode, p.stderr
    except subprocess.TimeoutExpired:
        return "hang", ""


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
    ends = {".png": b"IEND\xaeB`\x82", ".vti": b"</VTKFile>\n", ".vtu": b"</VTKFile>\n", ".pvd": b"</VTKFile>\n", ".csv": b"\n"}
    base, ending = os.path.basename(name), os.path.splitext(name)[1]
    if base.startswith(".binnacle"):
        return False
    if ending == ".json":
        try:
            json.loads(data)
        except ValueError:
            return True
    if ending in (".h5", ".tif"):
        return len(data) == 0 or (name in whole and len(data) != len(whole[name]))
    return len(data) == 0 or not data.endswith(ends.get(ending, b""))


def counts():
    with open(count) as f:
        return [(c, int(n)) for c, n in (line.split() for line in f)]


def fired():
    if not os.path.exists(mark):
        return False
    os.remove(mark)
    return True


def choose(jobs):
    rnd.shuffle(jobs)
    return jobs[:most] if most else jobs


passed = failed = idle = 0


def judge(why, what):
    global passed, failed
    if why:
        failed += 1
        print("FAILED:", what, "|", "; ".join(why), flush=True)
    else:
        passed += 1


def ends_well(code, error, why):
    if code == "hang" or code < 0 or code not in exits:
        why.append(f"exit {code}")
    elif code != 0 and len(error.strip()) < 15:
        why.append("no message")


# ---- files

def sweep_files():
    global idle
    out, case = work + "/out", work + "/case.toml"
    shutil.copy(cases["flow"], case)
    all_files = ["--set", "output.every=1", "--set", "output.tiff=true", "--set", "output.hdf5=true"]
    quiet = ["--out", out, "-q", "--reference"]
    begun = ["run", case, *quiet, "--steps", "2", "--checkpoint-every", "1", *all_files]
    plotted = work + "/plotted.vti"
    assert go(begun)[0] == 0, go(begun)
    shutil.copytree(out, work + "/begun")
    shutil.copy(next(f"{out}/fields/{f}" for f in sorted(os.listdir(out + "/fields")) if f.endswith(".vti")), plotted)
    commands = {
        "run": (begun, None),
        "resume": (["run", case, *quiet, "--resume", "--checkpoint-every", "1", *all_files], work + "/begun"),
        "plot": (["plot", plotted, "--out", out], None),
        "check": (["check", case], None),
    }
    errors = {"open": "ENOSPC EIO EMFILE EINTR", "read": "EIO EINTR", "write": "ENOSPC EIO EINTR SHORT", "fsync": "EIO ENOSPC EINTR",
              "rename": "ENOSPC EIO", "close": "EIO ENOSPC EINTR", "mkdir": "ENOSPC", "unlink": "EIO", "mmap": "ENOMEM"}
    jobs, whole = [], {}

    def fresh(before):
        shutil.rmtree(out, ignore_errors=True)
        if before:
            shutil.copytree(before, out)

    for name, (command, before) in commands.items():
        fresh(before)
        code, error = go(command, "files", BN_FAULT_UNDER=work, BN_FAULT_COUNT=count)
        assert code == 0 or (code == 4 and name == "resume"), (name, code, error)
        whole[name] = (code, tree(out))
        for call, n in counts():
            for e in errors[call].split():
                for on in ("", ":on") if e in ("ENOSPC", "EIO") else ("",):
                    jobs += [(name, call, i, e, on) for i in range(1, n + 1)]
    for name, call, i, e, on in choose(jobs):
        command, before = commands[name]
        fresh(before)
        number = -1 if e == "SHORT" else getattr(errno, e)
        spec = f"{call}:{i}:{number}{on}"
        code, error = go(command, "files", BN_FAULT_UNDER=work, BN_FAULT=spec, BN_FAULT_MARK=mark)
        hit, files, why = fired(), tree(out), []
        idle += not hit
        ends_well(code, error, why)
        before_files = tree(before) if before else {}
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
                           and not re.search(r"summary.json|report.html|lock$|checkpoint/|\.h5$", f))  # these hold dates
            if other:
                why.append("success with other " + " ".join(other))
            if hit and call in ("write", "fsync", "rename") and e not in ("EINTR", "SHORT"):
                why.append("success")
        elif hit and isinstance(code, int) and code > 0 and number > 0 and os.strerror(number) not in error and not (
                (call == "write" and not on and os.strerror(errno.EIO) in error) or  # stdio lost the reason, and it is gone
                "HDF5" in error):  # which tells none
            why.append("a message without " + os.strerror(number) + ": " + " / ".join(error.strip().split("\n"))[-300:])
        judge(why, f"{name} BN_FAULT={spec}: exit {code}")


# ---- OpenCL

codes = {-5: "CL_OUT_OF_RESOURCES", -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -2: "CL_DEVICE_NOT_AVAILABLE",
         -6: "CL_OUT_OF_HOST_MEMORY", -36: "CL_INVALID_COMMAND_QUEUE", -9999: "-9999"}


def sweep_opencl():
    global idle
    jobs, whole = [], {}

    def command(s, out):
        return ["run", cases[s], "--out", out, "-q", "--steps", str(few[s]), "--checkpoint-every", "1", "--set",
                "output.pictures=false"]

    for s in cases:
        out = f"{work}/{s}"
        code, error = go(command(s, out))  # compiles
        code, error = go(command(s, out) + ["--force"], "opencl", BN_FAULT_COUNT=count)
        assert code in (0, 4), (s, code, error)
        whole[s] = (code, hashes(tree(out)))
        for call, n in counts():
            jobs += [(s, call, i, e, on) for i in range(1, n + 1) for e in codes for on in ("", ":on")]
    for s, call, i, e, on in choose(jobs):
        out = work + "/out"
        shutil.rmtree(out, ignore_errors=True)
        spec = f"{call}:{i}:{e}{on}"
        code, error = go(command(s, out), "opencl", BN_FAULT=spec, BN_FAULT_MARK=mark)
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
        elif hit and code != 3:
            why.append("not exit 3: " + " / ".join(error.strip().split("\n"))[-300:])
        elif hit and codes[e] not in error:
            why.append("a message without " + codes[e] + ": " + " / ".join(error.strip().split("\n"))[-300:])
        elif hit and not on and call not in error:
            why.append(f"a message without {call}: " + " / ".join(error.strip().split("\n"))[-300:])
        judge(why, f"{s} BN_FAULT={spec}: exit {code}")


def sweep_pretend():
    lacks = ["fp64", "local", "groups", "buffers", "local,groups", "fp64,local,groups,buffers"]
    others = [[], ["--boxes", "2"], ["--boxes", "3"]]
    jobs, whole = [(s, lack, o) for s in cases for lack in lacks for o in others], {}
    for s, lack, more in choose(jobs):
        out = work + "/out"
        command = ["run", cases[s], "--out", out, "-q", "--force", "--steps", str(few[s]), "--set", "output.pictures=false",
                   "--set", "case.precision=\"single\""]
        if s not in whole:
            code, error = go(command)
            whole[s] = (code, hashes(tree(out)))
            assert code in (0, 4), (s, error)
        shutil.rmtree(out, ignore_errors=True)
        code, error = go(command + more, "opencl", BN_PRETEND=lack)
        why = []
        ends_well(code, error, why)
        if code == whole[s][0] and hashes(tree(out)) != whole[s][1]:
            why.append("other bits")
        if code != whole[s][0] and code not in (2, 3):
            why.append(f"exit {code}: {error.strip()[-300:]}")
        if code == 3 and "report" in error:
            why.append(error.strip()[-300:])
        judge(why, f"{s} BN_PRETEND={lack} {' '.join(more)}: exit {code}")


# Kernels that no self-test case tells of: of transforms and of multigrid in separate launches, which the cases do not take.
unseen = {"bpm_multiply", "fft_pack", "fft_unpack", "mg_residual", "mg_correct"}


def sweep_kernels():
    first = ["maxwell_norm", "maxwell_maxima", "flow_total_residual"]
    selftests = {s: sorted(f"{root}/data/cases/{s}/{f}" for f in os.listdir(f"{root}/data/cases/{s}") if f.startswith("selftest"))
                 for s in cases}
    users = {"cg": ["flow"], "multigrid": ["flow"], "spectral": ["flow"], "fft": ["flow", "bpm", "xray"]}
    kernels = [(name, users.get(f[:-3], [f[:-3]])) for f in sorted(os.listdir(root + "/kernels")) if f[:-3] in {**users, **cases}
               for name in re.findall(r"^kernel void (\w+)", open(f"{root}/kernels/{f}", encoding="utf-8").read(), re.M)]
    kernels.sort(key=lambda k: k[0] not in first)
    for name, solvers in kernels[:most] if most else kernels:
        told = any(go(["verify", case, "--precision", "single"], "opencl", BN_SKIP=name)[0] != 0
                   for s in solvers for case in selftests[s])
        judge([] if told or name in unseen else ["no self-test case tells"], f"BN_SKIP={name}")


try:
    {"files": sweep_files, "opencl": sweep_opencl, "pretend": sweep_pretend, "kernels": sweep_kernels}[kind]()
finally:
    shutil.rmtree(work, ignore_errors=True)
if idle:
    print(f"{idle} of them came to no call of that number")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

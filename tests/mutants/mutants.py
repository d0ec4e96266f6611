#!/usr/bin/env python3
"""mutants.py: do the tests see the physics? Device and reference agree in every bit, so a mistake that stands in both
can only be seen by a test that knows the physics. A mutant is such a mistake: the same in kernel and reference, or in the
set-up that both share. Each is applied to a copy of the tree, built, and the physics tests of its solver run until one
fails: first the program that docs/mutants.md says has killed it, then the others in their order.

    make mutants [ONLY='flow maxwell/oblique']       ONLY: parts of mutants' names, which are SOLVER/NAME
    python3 tests/mutants/mutants.py [--jobs N] [--sample N] [--only WORD...] [--quick] [--table FILE] [--check]

tests/mutants/SOLVER.txt names the test programs, the quickest first, and lists the mutants:

    tests: tests/solvers/flow/test_flow_properties tests/solvers/flow/test_flow
    == name: what is wrong
    tests: tests/solvers/flow/test_flow     only where this mutant has programs of its own
    @@ kernels/flow.cl
    - text that stands exactly once in the file, a line or several
    + what stands there instead
    ~ why no test can see it (an equivalent mutant; it is applied and tested like the others)

Outcomes: killed; survived; equivalent; broken: it does not apply or build, device and reference differ under it
(`binnacle verify` with the solver's self-tests, or those of a line `verify: CASE...`), or a test ended by an accident.
The last line says "N killed, N survived, N equivalent"; exit code 1 if a mutant survived or is broken.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "mutants"
# What a copy of the tree needs; of build/ what the next build reads. Programs are linked anew.
SOURCES = ["Makefile", "host", "include", "kernels", "src", "data", "tests"]
BUILT = ["obj", "rooms", "tests", "libbinnacle.a", "embedded.c", "embedded.list", "objects.list", "flags.txt",
         "deps.mk"]
PROGRAM_SECONDS = 900
# Of the user's environment, what is no setting of ours; nothing is installed.
CLEAN = {k: v for k, v in os.environ.items() if not re.match("BINNACLE|BN_TEST_LONG|MAKE|MFLAGS|POCL_|CK_", k)}
CLEAN.update(LC_ALL="C", DEPS="skip")
# Ends of a test that show nothing about physics.
ACCIDENT = re.compile(r"does not compile|there is no \S+ in this build|\bcl[A-Z]\w+: |no OpenCL device|no memory|"
                      r"Received signal|Early exit|Test timeout")


class Mutant:
    def __init__(self, solver, tests, cases, name, what):
        self.solver, self.tests, self.cases, self.name, self.what = solver, tests, cases, name, what
        self.changes = []  # (path, old, new)
        self.equivalent = ""
        self.unchanged = False  # the tree as it is, whose tests must pass

    def __str__(self):
        return f"{self.solver}/{self.name}"


def read_mutants(path):
    """The mutants of one file, in its order."""
    mutants, where, old, new = [], None, [], []
    tests, cases = [], sorted(str(c.relative_to(ROOT)) for c in ROOT.glob(f"data/cases/{path.stem}/selftest*.toml"))

    def close_change():
        nonlocal old, new
        if old:
            mutants[-1].changes.append((where, "\n".join(old), "\n".join(new)))
        old, new = [], []

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        word, rest = line[:2], line[2:]
        if line.startswith("== "):
            close_change()
            name, _, what = line[3:].partition(": ")
            mutants.append(Mutant(path.stem, tests, cases, name.strip(), what.strip()))
        elif line.startswith("tests: ") and mutants:
            mutants[-1].tests = line.split()[1:]
        elif line.startswith("tests: "):
            tests += line.split()[1:]
        elif line.startswith("verify: ") and not mutants:
            cases = line.split()[1:]
        elif line.startswith("@@ "):
            close_change()
            where = rest.strip()
        elif word in ("- ", "-"):
            if new:
                close_change()
            old.append(rest)
        elif word in ("+ ", "+"):
            new.append(rest)
        elif word == "~ ":
            mutants[-1].equivalent = (mutants[-1].equivalent + " " + rest).strip()
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path}:{number}: neither tests:, verify:, ==, @@, -, +, ~ nor #: {line}")
    if mutants:
        close_change()
    return mutants


def changed_texts(mutant):
    """The changed files' texts by path, and what is wrong with the mutant, or None."""
    texts = {}
    for where, old, new in mutant.changes:
        if where not in texts:
            if not (ROOT / where).is_file():
                return {}, f"there is no {where}"
            texts[where] = (ROOT / where).read_text(encoding="utf-8")
        count = texts[where].count(old)
        if count != 1:
            return {}, f"{where} has {count} places like: {old.splitlines()[0].strip()}"
        texts[where] = texts[where].replace(old, new)
    return texts, None if mutant.tests and (texts or mutant.unchanged) else "no change, or no line tests:"


def restore(mutant, tree):
    for where in {where for where, _, _ in mutant.changes}:
        if (ROOT / where).is_file():
            shutil.copy(ROOT / where, tree / where)  # newer than what was built from it


def environment(tree, jobs):
    """Of tests: PoCL alone where it is there, and caches of the tree's own."""
    mine = dict(CLEAN, CK_TAP_LOG_FILE_NAME="-", BN_TEST_TIMEOUT=os.environ.get("BN_TEST_TIMEOUT", "300"),
                XDG_CACHE_HOME=str(tree / "cache"), POCL_CACHE_DIR=str(tree / "pocl"),
                POCL_MAX_PTHREAD_COUNT=str(max(1, (os.cpu_count() or 1) // jobs)))
    pocl = list(pathlib.Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*pocl*.icd"))
    if pocl:
        (tree / "vendors").mkdir(exist_ok=True)
        shutil.copy(pocl[0], tree / "vendors")
        mine["OCL_ICD_VENDORS"] = str(tree / "vendors")
    for name in ("cache", "pocl"):
        (tree / name).mkdir(mode=0o700, exist_ok=True)
    return mine


def build(tree, env, jobs, targets, kept):
    """None, or what the compiler says. Files `kept` are as new as they need be."""
    done = subprocess.run(["make", "-s", f"-j{jobs}"] + [w for k in kept for w in ("-o", k)] + targets, cwd=tree,
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return None if done.returncode == 0 else done.stdout


running = set()  # sessions of programs under test


def end_session(leader):
    """Ends a program and its children: Check gives each test a process group of its own, in the session of all."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text(errors="replace").rpartition(")")[2].split()[3]) == leader:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:
            pass  # has ended meanwhile


def run_until(stop, command, tree, env):
    """Runs a program until a line of its output begins with `stop`: its output and exit code (negative: was ended)."""
    with subprocess.Popen(command, cwd=tree, env=env, text=True, errors="replace", start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        running.add(process.pid)
        watch = threading.Timer(PROGRAM_SECONDS, end_session, [process.pid])
        watch.start()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith(stop):
                end_session(process.pid)  # what it has written before can still be read
        process.wait()
        watch.cancel()
        running.discard(process.pid)
    return "".join(lines), process.returncode


def first_failure(program, tree, env):
    """Runs a test program until a test fails: (outcome, test, margin), or None when all passed."""
    output, code = run_until("not ok", [f"build/{program}"], tree, env)
    name = os.path.basename(program)
    failed = re.search(r"^not ok \d+ - (?:[^:\n]*:){2}(\w+): ((?:.*\n)+?)(?=(?:not )?ok \d|\d+\.\.\d|\d+%: |\Z)",
                       output, re.M)
    if failed is None:
        last = (output.strip().splitlines() or [""])[-1]
        return None if code == 0 else ("broken", name, f"ended with {code}: {last[:100]}")
    test, message = f"{name}: {failed[1]}", " ".join(failed[2].split())
    if ACCIDENT.search(message):
        return "broken", test, message[:300]
    numbers = re.search(r"= ([-+.0-9e]+), expected ([-+.0-9e]+) within ([-+.0-9e]+)", message)
    if numbers:
        off, allowed = abs(float(numbers[1]) - float(numbers[2])), float(numbers[3])
        return "killed", test, f"{off / allowed:.3g} times the limit" if allowed > 0 else f"off by {off:.3g}"
    return "killed", test, message[:100]


def not_twin(mutant, tree, env):
    """What `binnacle verify` says where a kernel does not build or differs from the reference; None: all is well."""
    if not any(w.startswith("kernels/") or w.endswith("_reference.c") for w, _, _ in mutant.changes):
        return None
    for case in mutant.cases:
        verify = ["build/binnacle", "verify", case, "--precision", "double", "--steps", "3"]
        output, code = run_until("\0", verify, tree, env)
        if code in (3, 5):
            lines = [line for line in output.splitlines() if re.search("FAIL|compile|error", line)] or [output[-200:]]
            return f"verify {case}: {' '.join(lines[0].split())}"
    return None


def killers():
    """The names of the programs that killed the mutants last time, by mutant, from the table in the documents."""
    rows = (line.split(" | ") for line in (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8").splitlines())
    return {row[0].lstrip("| "): row[3].partition(":")[0] for row in rows if len(row) > 3 and row[2] == "killed"}


def judge(mutant, tree, env, quick, killer):
    """(outcome, test, margin or reason)"""
    texts, why = changed_texts(mutant)
    if why:
        return "broken", "", why
    try:
        for where, text in texts.items():
            (tree / where).write_text(text, encoding="utf-8")
        # Flags, folders and libraries are those of the tree that was copied.
        kept = ["build/flags.txt", "build/deps.mk", "build/rooms/.made"]

        def not_built(program):
            # A term left out may leave names unused.
            said = build(tree, CLEAN, 1, [f"build/{program}", "CFLAGS=-Wno-unused"], kept)
            return said and "does not build: " + "; ".join(re.findall(r"error: .*", said) or said.splitlines()[-1:])

        why = None if quick else not_built("binnacle") or not_twin(mutant, tree, env)
        if why:
            return "broken", "", why
        for program in sorted(mutant.tests, key=lambda program: os.path.basename(program) != killer):
            why = not_built(program)
            failure = ("broken", "", why) if why else first_failure(program, tree, env)
            if failure:
                return ("broken",) + failure[1:] if mutant.unchanged else failure
        if mutant.unchanged:
            return "passed", "", ""
        return ("equivalent", "", mutant.equivalent) if mutant.equivalent else ("survived", "", "")
    finally:
        restore(mutant, tree)


def make_tree(tree):
    """A copy of the tree and of what was built in it."""
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "build").mkdir(parents=True)
    for part in SOURCES + [f"build/{b}" for b in BUILT]:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, symlinks=True)
        elif (ROOT / part).exists():
            shutil.copy2(ROOT / part, tree / part)
    for link in (tree / "build" / "rooms").rglob("*"):
        if link.is_symlink():
            target = tree / pathlib.Path(os.readlink(link)).relative_to(ROOT)
            link.unlink()
            link.symlink_to(target)
    return tree


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    ask.add_argument("--sample", type=int, default=0, help="only so many, spread evenly over all")
    ask.add_argument("--only", nargs="+", default=[""], help="only mutants with one of these in their SOLVER/NAME")
    ask.add_argument("--quick", action="store_true", help="does not ask whether device and reference still agree")
    ask.add_argument("--built", action="store_true", help="the tree is built, tests and all")
    ask.add_argument("--check", action="store_true", help="only says which mutants do not apply; builds nothing")
    ask.add_argument("--table", help="writes the outcomes as Markdown to this file")
    options = ask.parse_args()
    mutants = [m for f in sorted(HERE.glob("*.txt")) for m in read_mutants(f)
               if any(word in str(m) for word in options.only)]
    if options.sample and options.sample < len(mutants):
        mutants = [mutants[i * len(mutants) // options.sample] for i in range(options.sample)]
    if not mutants:
        sys.exit(f"mutants: none is called {' or '.join(options.only)}")
    if options.check:
        wrong = [f"{m}: {why}" for m in mutants if (why := changed_texts(m)[1])]
        print("\n".join(wrong + [f"{len(mutants)} mutants, {len(wrong)} do not apply"]))
        return 1 if wrong else 0

    for solver in [] if options.quick else sorted({m.solver for m in mutants}):
        first = next(m for m in mutants if m.solver == solver)
        mutants.insert(0, Mutant(solver, first.tests, first.cases, "unchanged", "no mistake: its tests pass"))
        mutants[0].unchanged = True
    jobs = max(1, min(options.jobs, len(mutants)))
    if not options.built:
        made = ROOT / "build" / "deps.mk"  # where the packages were found once, for tests
        kept = ["build/deps.mk"] if made.exists() and "CHECK_LIBS" in made.read_text() else []
        programs = sorted({f"build/{p}" for m in mutants for p in m.tests})
        said = build(ROOT, CLEAN, os.cpu_count() or 1, ["build/binnacle"] + programs, kept)
        if said:
            sys.exit("mutants: the tree itself does not build:\n" + said)
    work = pathlib.Path(tempfile.mkdtemp(prefix="mutants-", dir=ROOT / "build"))

    def end_all(number, _):
        for leader in list(running):
            end_session(leader)
        shutil.rmtree(work, ignore_errors=True)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_all)
    trees = queue.Queue()
    for job in range(jobs):
        trees.put(make_tree(work / f"tree{job}"))

    killed_by = killers()

    def one(mutant):
        tree, begin = trees.get(), time.monotonic()
        try:
            said = judge(mutant, tree, environment(tree, jobs), options.quick, killed_by.get(str(mutant)))
            return said + (time.monotonic() - begin,)
        finally:
            trees.put(tree)

    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for mutant, (outcome, test, margin, seconds) in zip(mutants, pool.map(one, mutants)):
            rows.append((str(mutant), mutant.what, outcome, test, margin))
            by = ", ".join(t for t in (test, margin) if t)
            print(f"{outcome:10} {mutant}: {mutant.what}{f'  [{by}]' if by else ''}  {seconds:.0f} s", flush=True)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as out:
            print("| mutant | what is wrong in both engines | outcome | by | margin |\n|---|---|---|---|---|", file=out)
            for row in rows:
                print("|", " | ".join(cell.replace("|", "\\|") for cell in row), "|", file=out)
    count = {o: sum(row[2] == o for row in rows) for o in ("killed", "survived", "equivalent", "broken")}
    shutil.rmtree(work, ignore_errors=True)
    if count["broken"]:
        print(f"{count['broken']} broken")
    print(f"{count['killed']} killed, {count['survived']} survived, {count['equivalent']} equivalent")
    return 1 if count["survived"] or count["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

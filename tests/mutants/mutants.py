#!/usr/bin/env python3
"""mutants.py: do the tests see the physics? Device and reference agree in every bit, so a mistake that stands in both can only be
seen by a test that knows the physics. A mutant is such a mistake, the same in kernel and reference, or in the set-up that both
share. Each is applied to a copy of the tree, which is built, and the physics tests of its solver are run until one fails.

    make mutants [ONLY=flow]         ONLY: part of a mutant's name, solver/name
    python3 tests/mutants/mutants.py [--jobs N] [--sample N] [--only WORD] [--table FILE] [--check]

tests/mutants/SOLVER.txt names the test programs, the quickest first, and lists the mutants:

    tests: tests/solvers/flow/test_flow_properties tests/solvers/flow/test_flow
    == name: what is wrong
    @@ kernels/flow.cl
    - text that stands exactly once in the file, a line or several
    + what stands there instead
    ~ why no test can see it (an equivalent mutant; it is applied and tested like the others)

The last line says "N killed, N survived, N equivalent"; exit code 1 if a mutant survived or could not be applied.
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
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "mutants"
# What a copy of the tree needs. The rest of the checkout is not looked at.
PARTS = ["Makefile", "host", "include", "kernels", "src", "data", "tests", "packaging"]
TIMEOUT_SECONDS = 600


class Mutant:
    def __init__(self, solver, tests, name, what):
        self.solver, self.tests, self.name, self.what = solver, tests, name, what
        self.changes = []  # (path, old, new)
        self.equivalent = ""

    def __str__(self):
        return f"{self.solver}/{self.name}"


def read_mutants(path):
    """The mutants of one file, in its order."""
    mutants, tests, where, old, new = [], [], None, [], []

    def close_change():
        nonlocal old, new
        if old:
            mutants[-1].changes.append((where, "\n".join(old), "\n".join(new)))
        old, new = [], []

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("== "):
            close_change()
            name, _, what = line[3:].partition(": ")
            mutants.append(Mutant(path.stem, tests, name.strip(), what.strip()))
        elif line.startswith("tests: "):
            tests += line.split()[1:]
        elif line.startswith("@@ "):
            close_change()
            where = line[3:].strip()
        elif line.startswith("- ") or line == "-":
            if new:
                close_change()
            old.append(line[2:])
        elif line.startswith("+ ") or line == "+":
            new.append(line[2:])
        elif line.startswith("~ "):
            mutants[-1].equivalent = (mutants[-1].equivalent + " " + line[2:]).strip()
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path}:{number}: neither tests:, ==, @@, -, +, ~ nor #: {line}")
    if mutants:
        close_change()
    return mutants


def unfit(mutant, tree):
    """The changed files by path, and what is wrong with the mutant, or None."""
    texts = {}
    for where, old, new in mutant.changes:
        path = tree / where
        if where not in texts:
            if not path.is_file():
                return {}, f"there is no {where}"
            texts[where] = path.read_text(encoding="utf-8")
        count = texts[where].count(old)
        if count != 1:
            return {}, f"{where} has {count} places like: {old.splitlines()[0].strip()}"
        texts[where] = texts[where].replace(old, new)
    return texts, None if texts and mutant.tests else "no change, or no tests: line"


def apply(mutant, tree):
    """Changes the files; returns what is wrong with the mutant, or None."""
    texts, why = unfit(mutant, tree)
    for where, text in texts.items():
        write_new(tree / where, text)
    return why


def write_new(path, text):
    """The copies are hard links: a changed file must become one of its own."""
    path.unlink()
    path.write_text(text, encoding="utf-8")


def restore(mutant, tree):
    for where in {where for where, _, _ in mutant.changes}:
        if (tree / where).exists():
            (tree / where).unlink()
        shutil.copy(ROOT / where, tree / where)
        os.utime(tree / where)


def run(command, tree, seconds, **more):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                          check=False, **more)


def build(tree, programs):
    return run(["make", "-s", "-j1", "DEPS=skip"] + [f"build/{p}" for p in programs], tree, TIMEOUT_SECONDS)


def first_failure(program, tree):
    """Runs a test program until a test fails: (test, margin in units of what is allowed), or None when all passed."""
    environment = dict(os.environ, XDG_CACHE_HOME=str(tree / "cache"), POCL_CACHE_DIR=str(tree / "pocl"), CK_TAP_LOG_FILE_NAME="-",
                       BN_TEST_TIMEOUT=os.environ.get("BN_TEST_TIMEOUT", "300"))
    name = os.path.basename(program)
    with subprocess.Popen([str(tree / "build" / program)], cwd=tree, env=environment, text=True, start_new_session=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        watch = threading.Timer(TIMEOUT_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        failed, last = None, ""
        for line in process.stdout:
            last = line.strip() or last
            if line.startswith("not ok"):
                failed = line.strip()
                break
        if failed:
            os.killpg(process.pid, signal.SIGKILL)
        watch.cancel()
        process.wait()
    if failed is None:
        return None if process.returncode == 0 else (name, last[-100:])
    where = re.match(r"not ok \d+ - [^:]*:[^:]*:([A-Za-z0-9_]+): *(.*)", failed)
    numbers = re.search(r"= ([-+.0-9e]+|-?nan|-?inf), expected ([-+.0-9e]+) within ([-+.0-9e]+)", failed)
    margin = where[2][:80] if where else failed[:80]
    if numbers:
        off, allowed = abs(float(numbers[1]) - float(numbers[2])), float(numbers[3])
        margin = f"{off / allowed:.3g} times the limit" if allowed > 0 else f"off by {off:.3g}"
    return f"{name}: {where[1]}" if where else name, margin


def judge(mutant, tree):
    """(outcome, test, margin): killed, survived, equivalent, broken."""
    why = apply(mutant, tree)
    try:
        if why:
            return "broken", why, ""
        for program in mutant.tests:
            built = build(tree, [program])
            if built.returncode != 0:
                return "broken", "does not build: " + built.stdout.strip().splitlines()[-1], ""
            failure = first_failure(program, tree)
            if failure:
                return "killed", *failure
        return ("equivalent", mutant.equivalent, "") if mutant.equivalent else ("survived", "", "")
    finally:
        restore(mutant, tree)


def make_tree(place):
    """A copy of the tree in hard links, with the build so far."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for part in PARTS:
        subprocess.run(["cp", "-al", str(ROOT / part), str(place)], check=True)
    (place / "build").mkdir()
    subprocess.run(f"cp -a '{ROOT}/build/deps.mk' '{place}/build/' 2>/dev/null || true", shell=True, check=True)
    return place


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    ask.add_argument("--sample", type=int, default=0, help="only so many, spread evenly over all")
    ask.add_argument("--only", default="")
    ask.add_argument("--check", action="store_true", help="only says which mutants do not apply; builds nothing")
    ask.add_argument("--table", help="writes the table as Markdown to this file")
    options = ask.parse_args()
    mutants = [m for f in sorted(HERE.glob("*.txt")) for m in read_mutants(f) if options.only in str(m)]
    if options.sample and options.sample < len(mutants):
        mutants = [mutants[i * len(mutants) // options.sample] for i in range(options.sample)]
    if not mutants:
        sys.exit(f"mutants: none is called {options.only}")
    if options.check:
        wrong = [f"{m}: {why}" for m in mutants if (why := unfit(m, ROOT)[1])]
        print("\n".join(wrong + [f"{len(mutants)} mutants, {len(wrong)} do not apply"]))
        return 1 if wrong else 0
    trees = queue.Queue()
    work = ROOT / "build" / "mutants"
    jobs = max(1, min(options.jobs, len(mutants)))
    wanted = sorted({p for m in mutants for p in m.tests})
    for job in range(jobs):
        tree = make_tree(work / f"tree{job}")
        built = build(tree, wanted)
        if built.returncode != 0:
            sys.exit("mutants: the tree itself does not build:\n" + built.stdout)
        trees.put(tree)

    def one(mutant):
        tree, begin = trees.get(), time.monotonic()
        try:
            return judge(mutant, tree) + (time.monotonic() - begin,)
        finally:
            trees.put(tree)

    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for mutant, (outcome, test, margin, seconds) in zip(mutants, pool.map(one, mutants)):
            rows.append((mutant, outcome, test, margin))
            print(f"{outcome:10} {mutant}: {mutant.what}" + (f"  [{test}{', ' + margin if margin else ''}]" if test else "") +
                  f"  {seconds:.0f} s", flush=True)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as out:
            out.write("| mutant | what is wrong in both engines | outcome | by | margin |\n|---|---|---|---|---|\n")
            for mutant, outcome, test, margin in rows:
                out.write(f"| {mutant} | {mutant.what} | {outcome} | {test} | {margin} |\n")
    count = {o: sum(1 for r in rows if r[1] == o) for o in ("killed", "survived", "equivalent", "broken")}
    shutil.rmtree(work, ignore_errors=True)
    if count["broken"]:
        print(f"{count['broken']} could not be applied or built")
    print(f"{count['killed']} killed, {count['survived']} survived, {count['equivalent']} equivalent")
    return 1 if count["survived"] or count["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

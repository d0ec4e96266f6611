# compare.py: whether two output folders hold the same, but for what tells times by the clock or where a run began.
#   python3 compare.py ONE OTHER
import json
import os
import sys

CLOCK = {"timings", "rate", "profile", "build", "resumed_from", "boxes", "balance"}


def files(folder):
    found = {}
    for path, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f != "checkpoint"]
        for name in set(names) - {"report.html"}:  # tells times by the clock
            whole = os.path.join(path, name)
            found[os.path.relpath(whole, folder)] = whole
    return found


def content(path):
    with open(path, "rb") as f:
        data = f.read()
    if os.path.basename(path) != "summary.json":
        return data
    return json.dumps({k: v for k, v in json.loads(data).items() if k not in CLOCK}, sort_keys=True, indent=1)


one, other = files(sys.argv[1]), files(sys.argv[2])
bad = ["only in one: " + n for n in sorted(one.keys() ^ other.keys())]
bad += ["differs: " + n for n in sorted(one.keys() & other.keys()) if content(one[n]) != content(other[n])]
print("\n".join(bad) if bad else "%d files are the same" % len(one))
sys.exit(len(bad) > 0 or not one)

# damage.py: flips a bit in every region of a checkpoint in turn, and cuts its files short; each time the program must refuse
# it: exit code 6, a message that names the file, nothing written.
#   python3 damage.py BINNACLE CASE CHECKPOINT SCRATCH STRIDE
# Regions: the manifest line by line, its last line (the SHA-256) digit by digit; of a part the HDF5 head, every header of a
# group, dataset or attribute that h5py or the signatures of HDF5 name, the middle and both ends of every dataset's values.
# STRIDE: only every so many-th of them.
import json
import os
import shutil
import subprocess
import sys

program, case, source, scratch, stride = sys.argv[1:5] + [int(sys.argv[5])]
manifest = json.load(open(os.path.join(source, "manifest.json")))
parts = [p["file"] for p in manifest["parts"]]


def places_of_manifest(data):
    at, places = 0, []
    for line in data.split(b"\n"):
        places.append(at + len(line) // 2)
        at += len(line) + 1
    last = data.rfind(b'"sha256"')
    return [p for p in places if p < len(data)] + list(range(last, len(data)))


def places_of_part(data):
    places = set(range(0, 96, 8)) | {len(data) - 1}
    for mark in (b"TREE", b"HEAP", b"SNOD", b"OHDR"):
        at = data.find(mark)
        while at >= 0:
            places |= {at, at + 5, at + 9, at + 20}
            at = data.find(mark, at + 1)
    for name in [p["dataset"].rsplit("/", 1)[-1] for f in manifest["fields"] for p in f["pieces"]]:
        at = data.find(name.encode())
        if at >= 0:
            places.add(at)
    places |= set(range(100, len(data), max(1, len(data) // 200)))
    return sorted(p for p in places if p < len(data))


def attempt(what, expected):
    out = os.path.join(scratch, "out")
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([program, "run", case, "--reference", "--out", out, "-q", "--steps", "41", "--resume=" +
                           os.path.join(scratch, "checkpoint", "manifest.json")], capture_output=True, text=True)
    if done.returncode != 6 or expected not in done.stderr or os.path.exists(out):
        print("%s: exit %d\n%s" % (what, done.returncode, done.stderr))
        return False
    return True


good, tried = True, 0
for name in ["manifest.json"] + parts:
    data = open(os.path.join(source, name), "rb").read()
    changes = [("bit of byte %d of %s" % (p, name), data[:p] + bytes([data[p] ^ (1 << p % 8)]) + data[p + 1:])
               for p in (places_of_part(data) if name in parts else places_of_manifest(data))[::stride]]
    changes += [("%s cut to %d bytes" % (name, n), data[:n]) for n in (0, 1, len(data) // 3, len(data) - 1)]
    changes += [("%s with a byte behind its end" % name, data + b"\n")]
    for what, changed in changes:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(source, os.path.join(scratch, "checkpoint"))
        with open(os.path.join(scratch, "checkpoint", name), "wb") as f:
            f.write(changed)
        good = attempt(what, name) and good
        tried += 1
for name in parts:  # not there at all
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(source, os.path.join(scratch, "checkpoint"))
    os.remove(os.path.join(scratch, "checkpoint", name))
    good = attempt("without " + name, name) and good
    tried += 1
print("%d damaged checkpoints, %s" % (tried, "all refused" if good else "NOT all refused"))
sys.exit(not good)

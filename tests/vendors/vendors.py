"""vendors.py: compiles the programs of all self-test cases with the compilers of other vendors, without their hardware.

    python3 vendors.py [--programs DIR] [--out FILE] [TARGET...]

DIR holds pairs NAME.cl and NAME.opt, as `BINNACLE_PROGRAMS=DIR binnacle self-test SOLVER` leaves them. For each target
(`--list` names them) every program is compiled with the options that the host would give it there. A table of kernels
tells registers, spilled registers, scratch memory, local memory, and how many work-items a processor holds at once.

Ends with exit code 1 when a program does not compile, when a kernel spills more than it may (none in single precision,
SPILLS_DOUBLE registers in double precision), or needs more local memory than the target has. The last line is
"N passed, N failed, N skipped", one a program and target; targets whose compiler is not installed are skipped.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SPILLS_SINGLE = 0
SPILLS_DOUBLE = 32
LOCAL_BYTES = 64 * 1024  # of a work-group, on every target
# Where more is known and borne: the walk from slab to slab of xray keeps 8 tallies of 64 bits and a photon's 13 numbers,
# more than the 128 registers that a thread has in double precision; it serves several devices alone.
# Columns of flow's direct solver that several launches take have chunks of 64 nodes in registers, in double more than a
# thread of some has; they serve several devices and grids of more than 8,192 nodes along y.
KNOWN_SPILLS = {
    ("amd-gfx90a", "xray_trace_slab", "double"): 33,
    ("intel-skl", "spectral_chunks", "single"): 80,
    ("intel-skl", "spectral_chunks", "double"): 570,
    ("intel-dg2", "spectral_chunks", "single"): 90,
    ("intel-pvc", "spectral_chunks", "single"): 55,
    ("intel-pvc", "spectral_chunks", "double"): 320,
    ("amd-gfx1030", "spectral_chunks", "single"): 20,
    ("amd-gfx1030", "spectral_chunks", "double"): 160,
}
FOR_CPUS = ("maxwell_H_rows", "maxwell_E_rows")  # loops of one work-item; a GPU has them where a case asks, never in a hot step


class Kernel:
    """What a compiler says of one kernel."""

    def __init__(self, name):
        self.name = name
        self.registers = self.spills = self.scratch = self.local = self.width = self.resident = 0


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.returncode, done.stdout.replace(b"\0", b"\n").decode("utf-8", "replace")


class Intel:
    """Intel's offline compiler, `ocloc`. A thread of a processor has 128 registers; eight threads share a processor."""

    THREADS = 8

    def __init__(self, device, sub_group=0, fp64=True):
        self.name, self.device, self.sub_group, self.fp64 = "intel-" + device, device, sub_group, fp64

    def missing(self):
        if not shutil.which("ocloc"):
            return "ocloc is not installed"
        code, text = run(["ocloc", "compile", "--help"])
        return None if self.device in text else "this ocloc does not know it"

    def compile(self, source, options, folder):
        if self.sub_group:  # as host/device/quirks.c asks for on such a device
            options += " -DSUB_GROUP=%d" % self.sub_group
        code, text = run(["ocloc", "compile", "-file", source, "-device", self.device, "-options", options,
                          "-internal_options", "-ze-allow-zebin", "-out_dir", folder, "-output", "program"])
        binaries = glob.glob(os.path.join(folder, "*.bin"))
        if code != 0 or not binaries:
            return None, text
        spills = {m.group(1): int(m.group(2)) for m in
                  re.finditer(r"kernel (\S+)\s+compiled SIMD\d+ allocated \d+ regs and spilled around (\d+)", text)}
        with open(binaries[0], "rb") as f:
            description = f.read().decode("latin-1")
        # Kernels are named once more behind, with what their arguments are called.
        return self.kernels(description[description.find("\nkernels:"):].split("\nkernels_misc_info:")[0], spills), text

    def kernels(self, description, spills):
        found = []
        for line in description.splitlines():
            match = re.match(r"  - name: +(\w+)$", line)
            value = re.match(r" +(grf_count|simd_size|slm_size|spill_size|private_size): +(\d+)$", line)
            if match:
                found.append(Kernel(match.group(1)))
                found[-1].spills = spills.get(match.group(1), 0)
            elif value and found:
                kernel, number = found[-1], int(value.group(2))
                if value.group(1) == "grf_count":
                    kernel.registers = number
                elif value.group(1) == "simd_size":
                    kernel.width = number
                elif value.group(1) == "slm_size":
                    kernel.local = number
                else:
                    kernel.scratch = max(kernel.scratch, number)
        for kernel in found:
            kernel.resident = kernel.width * self.THREADS * 128 // max(kernel.registers, 128)
        return found


class Amd:
    """AMD's device libraries under clang. `wave`: work-items that run together."""

    FOLDERS = ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"]
    LIBRARIES = ["opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_finite_only_off", "oclc_unsafe_math_off",
                 "oclc_correctly_rounded_sqrt_on"]
    REMARKS = {"VGPRs": "registers", "VGPRs Spill": "spills", "ScratchSize [bytes/lane]": "scratch",
               "LDS Size [bytes/block]": "local", "Occupancy [waves/SIMD]": "waves"}

    def __init__(self, device, wave):
        self.name, self.device, self.wave, self.fp64 = "amd-" + device, device, wave, True

    def toolchain(self):
        """A clang and the device libraries for this target: (None, None) where there are none."""
        names = self.LIBRARIES + ["oclc_isa_version_" + self.device[3:],
                                  "oclc_wavefrontsize64_" + ("on" if self.wave == 64 else "off")]
        for version in range(25, 14, -1):
            clang = "clang-%d" % version
            for folder in ["/usr/lib/llvm-%d/lib/clang/%d/amdgcn/bitcode" % (version, version)] + self.FOLDERS:
                files = [os.path.join(folder, name + ".bc") for name in names]
                if shutil.which(clang) and all(map(os.path.exists, files)):
                    return clang, files + sorted(glob.glob(os.path.join(folder, "oclc_abi_version_*.bc")))[:1]
        return None, None

    def missing(self):
        return None if self.toolchain()[0] else "clang 15 or newer with AMD's device libraries for it is not installed"

    def compile(self, source, options, folder):
        clang, libraries = self.toolchain()
        link = [word for file in libraries for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", file)]
        given = [o for o in options.split() if not o.startswith("-cl-nv")]
        code, text = run([clang, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + self.device, "-O3",
                          "-Xclang", "-finclude-default-header", "-nogpulib"] + link + given +
                         ["-Rpass-analysis=kernel-resource-usage", "-c", "-o", os.path.join(folder, "program.o"), source])
        if code != 0:
            return None, text
        found = []
        for line in text.splitlines():
            match = re.search(r"remark: +(.*): +(\S+) \[-Rpass", line)
            if not match:
                continue
            if match.group(1) == "Function Name":
                found.append(Kernel(match.group(2)))
            elif found and match.group(1) in self.REMARKS:
                setattr(found[-1], self.REMARKS[match.group(1)], int(match.group(2)))
        for kernel in found:
            kernel.width = self.wave
            kernel.resident = getattr(kernel, "waves", 0) * self.wave
        return found, text


# Gen9 and Xe-HPG choose narrower threads by themselves; Xe-HPC is told to take 16 work-items.
TARGETS = [Intel("skl"), Intel("dg2", fp64=False), Intel("pvc", sub_group=16), Intel("bmg", sub_group=16),
           Amd("gfx90a", 64), Amd("gfx1030", 32), Amd("gfx942", 64), Amd("gfx1100", 32)]


def precision_of(options):
    return "double" if "-DREAL_BYTES=8" in options.split() else "single"


def findings(target, kernels, precision):
    """What is wrong with these kernels, one text each."""
    most = SPILLS_DOUBLE if precision == "double" else SPILLS_SINGLE
    wrong = []
    for k in kernels:
        allowed = KNOWN_SPILLS.get((target.name, k.name, precision), most)
        if k.spills > allowed and k.name not in FOR_CPUS:
            wrong.append("%s spills %d registers, %d are allowed in %s precision" % (k.name, k.spills, allowed, precision))
        if k.local > LOCAL_BYTES:
            wrong.append("%s needs %d bytes of local memory of %d" % (k.name, k.local, LOCAL_BYTES))
    return wrong


def compile_one(target, source, options):
    with tempfile.TemporaryDirectory() as folder:
        return target.compile(source, options, folder)


def worst(rows):
    """Of the kernels of one name the one that spills most, then takes most registers."""
    table = {}
    for solver, precision, kernel in rows:
        key = (solver, kernel.name, precision)
        before = table.get(key)
        if not before or (kernel.spills, kernel.registers, kernel.local) > (before.spills, before.registers, before.local):
            table[key] = kernel
    return sorted(table.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="build/vendors/programs")
    parser.add_argument("--out", help="the whole table, as Markdown")
    parser.add_argument("--list", action="store_true", help="the targets")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        for target in TARGETS:
            print("%-14s %s" % (target.name, target.missing() or "here"))
        return 0
    unknown = set(arguments.targets) - {t.name for t in TARGETS}
    if unknown:
        sys.exit("no such target: %s; --list names them" % ", ".join(sorted(unknown)))
    sources = sorted(glob.glob(os.path.join(arguments.programs, "*.cl")))
    if not sources:
        sys.exit("no programs in %s" % arguments.programs)

    passed = failed = skipped = 0
    document = []
    for target in [t for t in TARGETS if not arguments.targets or t.name in arguments.targets]:
        why = target.missing()
        if why:
            print("%-14s skipped: %s" % (target.name, why))
            skipped += 1
            continue
        jobs = []
        for source in sources:
            with open(source[:-3] + ".opt", encoding="utf-8") as f:
                options = f.read()
            if target.fp64 or precision_of(options) == "single":
                jobs.append((source, options))
        rows = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda job, on=target: compile_one(on, *job), jobs)
            for (source, options), (kernels, text) in zip(jobs, results):
                precision, solver = precision_of(options), os.path.basename(source).rsplit("-", 1)[0]
                wrong = ["does not compile:\n" + text] if not kernels else findings(target, kernels, precision)
                rows += [(solver, precision, k) for k in kernels or []]
                passed, failed = passed + (not wrong), failed + bool(wrong)
                for finding in wrong:
                    print("%-14s %s: %s" % (target.name, os.path.basename(source), finding))
        table = worst(rows)
        spilling = [k for _, k in table if k.spills]
        print("%-14s %3d programs, %3d kernels, most registers %3d, kernels that spill %d (most %d), most local memory %d"
              % (target.name, len(jobs), len(table), max((k.registers for _, k in table), default=0), len(spilling),
                 max((k.spills for k in spilling), default=0), max((k.local for _, k in table), default=0)))
        document += ["", "### %s" % target.name, "",
                     "| kernel | precision | work-items together | registers | spilled | scratch, B | local memory, B | "
                     "work-items a processor |", "|---|---|---|---|---|---|---|---|"]
        document += ["| %s | %s | %d | %d | %d | %d | %d | %d |" % (name, precision, k.width, k.registers, k.spills,
                                                                  k.scratch, k.local, k.resident)
                     for (_, name, precision), k in table]
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as f:
            f.write("\n".join(document).strip() + "\n")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

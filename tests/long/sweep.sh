#!/bin/sh
# sweep.sh: 50 wavelengths and 20 thicknesses of a thin-film stack against the exact transfer-matrix curves; killed at ten moments and
# resumed, the same table.
. tests/cli_lib.subr
b=$BINNACLE
cat >"$work/exact.py" <<'PY'
"""exact.py TABLE KEY: reflectance and absorptance of the silicon against the transfer-matrix method (P. Yeh, Optical Waves in
Layered Media, 1988), n and k between the rows of data/materials as the solver takes them."""
import bisect, cmath, csv, math, sys

def material(name):
    rows = [line.split(",") for line in open("data/materials/%s.csv" % name) if line[0] not in "#w"]
    return [[float(v) for v in row[:3]] for row in rows]

def index(rows, nm):
    i = min(max(bisect.bisect([r[0] for r in rows], nm), 1), len(rows) - 1)
    (x0, n0, k0), (x1, n1, k1) = rows[i - 1], rows[i]
    t = (nm - x0) / (x1 - x0)
    return complex(n0 + t * (n1 - n0), k0 + t * (k1 - k0))

azo, silicon, silver = material("AZO-Treharne2011"), material("a-Si-Pierce1972"), material("Ag-Johnson1972")

def stack(nm, silicon_nm):
    n = [1.5, index(azo, nm), index(silicon, nm), index(azo, nm), index(silver, nm)]
    d = [0, 500, silicon_nm, 80, 0]
    # From the last layer upwards: amplitudes down and up just below each interface.
    fields = [(1, 0)]
    for j in range(3, -1, -1):
        down, up = fields[0]
        r, t = (n[j] - n[j + 1]) / (n[j] + n[j + 1]), 2 * n[j] / (n[j] + n[j + 1])
        down, up = (down + r * up) / t, (r * down + up) / t
        phase = 2j * math.pi * n[j] * d[j] / nm
        fields.insert(0, (down * cmath.exp(-phase), up * cmath.exp(phase)))
    def flux(j, at):  # of Poynting's vector, at a depth in layer j; amplitudes are those at its top
        down, up = fields[j]
        phase = 2j * math.pi * n[j] * at / nm
        down, up = down * cmath.exp(phase), up * cmath.exp(-phase)
        return (complex(n[j]).conjugate() * (down + up) * (down - up).conjugate()).real
    incident = 1.5 * abs(fields[0][0]) ** 2
    return abs(fields[0][1] / fields[0][0]) ** 2, (flux(2, 0) - flux(2, silicon_nm)) / incident

# The published curve: 600 nm, R = 0.23591672, a-Si 0.73724153.
r, a = stack(600, 300)
assert abs(r - 0.23591672) < 1e-6 and abs(a - 0.73724153) < 1e-6, (r, a)
worst = [0, 0]
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    value = float(row[sys.argv[2]])
    exact = stack(value, 300) if "wavelength" in sys.argv[2] else stack(600, value)
    for k, name in enumerate(("reflectance", "absorptance_aSi")):
        worst[k] = max(worst[k], abs(float(row[name]) - exact[k]))
print(len(rows), "points, largest differences", worst)
# The scheme's phase error in silicon, (pi / cells a wavelength)^2 / 6 with 25 cells at 550 nm, is that of 0.8 nm of its 300; the
# curves change by 0.006 a nm at most, hence 0.0048, and less than half of that again for the other layers.
assert max(worst) < float(sys.argv[3]), worst
PY
case=data/cases/maxwell/stack-600nm.toml
table=reflectance,absorptance_aSi
expect 0 'reflectance.png' '50 wavelengths' "$b" sweep $case --reference --quiet --jobs 2 --table $table \
    --vary 'light.wavelength=550:750:50 nm' --out "$work/wavelengths"
ok '... on the exact curve' python3 "$work/exact.py" "$work/wavelengths/sweep.csv" 'light.wavelength [nm]' 0.007
thick="--reference --quiet --jobs 2 --table $table"
# shellcheck disable=SC2086 # several words
thicknesses() { "$b" sweep $case $thick --vary 'layer.2.thickness=205:395:20 nm' --out "$1"; }
ok '20 thicknesses' thicknesses "$work/thicknesses"
ok '... on the exact curve' python3 "$work/exact.py" "$work/thicknesses/sweep.csv" 'layer.2.thickness [nm]' 0.007
for moment in 0.1 0.3 0.5 0.7 0.9 1.1 1.3 1.5 1.7 1.9; do
    # shellcheck disable=SC2086
    timeout -s KILL $moment "$b" sweep $case $thick --vary 'layer.2.thickness=205:395:20 nm' --out "$work/killed" >/dev/null 2>&1
done
ok 'killed at ten moments, it goes on' thicknesses "$work/killed"
ok '... with the same table' cmp "$work/thicknesses/sweep.csv" "$work/killed/sweep.csv"
finish

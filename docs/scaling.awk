# scaling.awk: the model of docs/scaling.md, as a table.   awk -f docs/scaling.awk
# Per solver: updates a second of one device, updates of one device's share, launches with an exchange in a step, bytes that
# cross a face in such a launch, time that a face costs all the same, time that the host waits for sums in a step, dimensions
# that may be cut, faces of an inner box for each of them (1: the stencil of a launch looks one way).
function predict(rate, share, launches, bytes, face, wait, dims, sides, strong, devices,    own, cuts, f, t, interior, hidden, shrink) {
    own = strong ? share / devices : share
    cuts = devices <= 8 ? 1 : dims # up to eight in a row along the slowest dimension
    f = devices == 1 ? 0 : devices == 2 ? 1 : sides * cuts
    shrink = strong ? devices ^ (-(cuts - 1) / cuts) : 1
    interior = own / rate
    hidden = launches * f * (bytes * shrink / BANDWIDTH * 2 + LATENCY * 2)
    t = interior + launches * f * face + (devices > 1 ? wait : 0) + (hidden > interior ? hidden - interior : 0)
    t += devices > NODE ? (launches + (wait > 0)) * NETWORK * log(devices / NODE) / log(2) : 0
    return (strong ? share / rate : devices * share / rate) / t
}
# bpm in space, two steps: one solve along x, meanwhile the overlap crosses, and one along y with the overlap in it. Two
# devices have one host thread for their calls, which may take longer than both solves.
function predict_pieces(rate, side, overlap, bytes, strong, devices,    rows, sides, along_x, along_y, travel, own) {
    rows = strong ? side / devices : side
    sides = devices == 1 ? 0 : devices == 2 ? 1 : 2
    along_x = rows * side / rate
    along_y = (rows + sides * overlap) * side / rate
    travel = sides == 0 ? 0 : sides * (2 * overlap * side * bytes / BANDWIDTH + 2 * LATENCY)
    own = along_x + along_y
    own = devices == 2 && own < CALLS ? CALLS : own
    return 2 * side * side * (strong ? 1 : devices) / rate / (own + (travel > along_x ? travel - along_x : 0))
}
BEGIN {
    BANDWIDTH = 55e9   # between device and pinned memory [B/s], measured
    LATENCY = 14e-6    # of a read or write that is waited for [s], measured
    CALLS = 120e-6     # of the host for two devices in two steps of bpm in space [s]: fitted to 2048^2, strong
    NETWORK = 10e-6    # of a round between nodes [s], assumed
    NODE = 8           # devices of a node
    n = split("2 4 8 64 1000", P, " ")
    count = 0
    #                    name, rate, share, launches, bytes, face [s], wait [s], dimensions, sides
    row[++count] = "maxwell 24.78e9 134217728 2 6291456 60e-6 0 3 1"
    row[++count] = "flood 52.6e9 51380224 1 86016 42e-6 26e-6 2 2"
    row[++count] = "xray 28.6e9 67108864 0 0 0 70e-6 1 1"
    # 7169 x 7169 nodes, a step of some 50 exchanges; the wait is for sums and for the grids that are agglomerated.
    row[++count] = "flow 4.65e9 51394561 50 28676 29e-6 750e-6 1 2"
    printf "%-10s %-8s", "solver", "scaling"
    for (i = 1; i <= n; i++)
        printf " %8d", P[i]
    printf "   devices: times one\n"
    for (r = 1; r <= count; r++)
        for (strong = 0; strong < 2; strong++) {
            split(row[r], v, " ")
            printf "%-10s %-8s", v[1], strong ? "strong" : "weak"
            for (i = 1; i <= n; i++)
                printf " %8.2f", predict(v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], strong, P[i])
            printf "\n"
        }
    row[++count] = "bpm 63.1e9 2048 61" # name, rate, points along a side, rows of the overlap
    row[++count] = "bpm 39.0e9 4096 145"
    for (r = count - 1; r <= count; r++)
        for (strong = 0; strong < 2; strong++) {
            split(row[r], v, " ")
            printf "%-10s %-8s", v[1] v[3], strong ? "strong" : "weak"
            for (i = 1; i <= 3; i++)
                printf " %8.2f", predict_pieces(v[2], v[3], v[4], 8, strong, P[i])
            printf "\n"
        }
}

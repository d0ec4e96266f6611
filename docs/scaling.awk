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
# bpm in space: one solve in each step, whose result is turned; every device sends a part to every other.
function predict_turn(rate, share, bytes, strong, devices,    points, own, travel) {
    points = strong ? share : share * devices
    own = points / devices / rate
    travel = devices == 1 ? 0 : 2 * points * (devices - 1) / devices ^ 2 * bytes / BANDWIDTH + 2 * LATENCY
    return points / rate / (own + (travel > own ? travel - own : 0))
}
BEGIN {
    BANDWIDTH = 55e9   # between device and pinned memory [B/s], measured
    LATENCY = 14e-6    # of a read or write that is waited for [s], measured
    NETWORK = 10e-6    # of a round between nodes [s], assumed
    NODE = 8           # devices of a node
    n = split("2 4 8 64 1000", P, " ")
    count = 0
    #                    name, rate, share, launches, bytes, face [s], wait [s], dimensions, sides
    row[++count] = "maxwell 24.78e9 134217728 2 6291456 60e-6 0 3 1"
    row[++count] = "flood 39.16e9 50003968 1 86016 27e-6 33e-6 2 2"
    row[++count] = "xray 46.2e9 67108864 0 0 0 42e-6 1 1"
    # In ranks, one to a device: some 95 exchanges and sums a step, by what they cost two ranks at 4097 x 4097 nodes.
    row[++count] = "flow 2.370e9 50346985 95 32772 18e-6 0 1 1"
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
    for (strong = 0; strong < 2; strong++) { # 8192 x 8192 points, or 2048 x 2048 for each device
        printf "%-10s %-8s", "bpm", strong ? "strong" : "weak"
        for (i = 1; i <= 3; i++)
            printf " %8.2f", predict_turn(31.5e9, strong ? 8192 ^ 2 : 2048 ^ 2, 8, strong, P[i])
        printf "\n"
    }
}

# barriers.awk: reads LLVM IR of kernels for CPUs and names those with a barrier that stands in a loop: PoCL 5.0 aborts the
# process over some of these.
#   awk -v allowed=' bpm_crank_nicolson bpm_half_step ' -f barriers.awk FILE.ll        exits 1 when one is not among the allowed
function label_of(line)
{
    sub(/:.*/, "", line)
    gsub(/"/, "", line)
    return line
}
function add_edges(line,    name)
{
    while (match(line, /label %("[^"]*"|[-A-Za-z0-9._$]+)/)) {
        name = substr(line, RSTART + 7, RLENGTH - 7)
        gsub(/"/, "", name)
        edges[block] = edges[block] name "\n"
        line = substr(line, RSTART + RLENGTH)
    }
}
# Whether a path of one edge at least leads from a block to itself.
function in_loop(start,    queue, head, tail, seen, next_ones, n, i)
{
    queue[tail++] = start
    while (head < tail) {
        n = split(edges[queue[head++]], next_ones, "\n")
        for (i = 1; i < n; i++) {
            if (next_ones[i] == start)
                return 1
            if (!(next_ones[i] in seen)) {
                seen[next_ones[i]] = 1
                queue[tail++] = next_ones[i]
            }
        }
    }
    return 0
}
/^define .*spir_kernel / {
    kernel = $0
    sub(/^[^@]*@/, "", kernel)
    sub(/[(].*/, "", kernel)
    block = "entry"
    split("", edges)
    split("", barriers)
    next
}
kernel == "" { next }
/^("[^"]*"|[-A-Za-z0-9._$]+):/ { block = label_of($0); next }
/^  (br|switch) / || /^    i[0-9]+ .*label %/ { add_edges($0) }
/call .*@_Z7barrier/ { barriers[block] = 1 }
/^}/ {
    for (b in barriers)
        if (in_loop(b) && !index(allowed, " " kernel " ")) {
            printf "%s: a barrier in a loop; on CPUs let one work-item do it (kernels/flood.cl)\n", kernel > "/dev/stderr"
            bad = 1
            break
        }
    kernel = ""
}
END { exit bad + 0 }

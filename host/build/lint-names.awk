# lint-names.awk: names in C and OpenCL C that docs/glossary.md has other words for. An identifier is taken apart at its
# underscores; comments and texts are left out.
#   awk -f lint-names.awk FILE...      prints FILE:LINE: identifier
BEGIN {
    everywhere = "travel traveller travellers recut keeper dealt moment together turned team foreign gathered twin peaks"
    list("host/", "slot slots member members spread rooms reach segment segments")
    list("src/case/", "walk problem problems nearest builder")
    list("src/numerics/", "bands")
    list("src/(output|run|sim)/", "past")
    list("(kernels/flood|solvers/flood)", "rub settle")
    list("(kernels/flow|solvers/flow)", "lift respond carried")
    list("(kernels/bpm|solvers/bpm)", "march marcher")
    list("(kernels/xray|solvers/xray)", "fly lives tell land expose lengthen cross")
    list("(kernels/maxwell|solvers/maxwell)", "mix keep")
}
function list(path, words) { rooms++; room[rooms] = path; retired[rooms] = " " words " " }
FNR == 1 {
    comment = 0
    words = " " everywhere " "
    for (r = 1; r <= rooms; r++)
        if (FILENAME ~ room[r])
            words = words retired[r]
}
{
    text = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
    code = ""
    while (text != "") {
        if (comment) {
            at = index(text, "*/")
            if (!at) break
            text = substr(text, at + 2); comment = 0
        } else {
            at = index(text, "/*")
            if (!at) { code = code text; break }
            code = code substr(text, 1, at - 1) " "
            text = substr(text, at + 2); comment = 1
        }
    }
    sub(/\/\/.*/, "", code)
    while (match(code, /[A-Za-z_][A-Za-z0-9_]*/)) {
        name = substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
        n = split(tolower(name), piece, "_")
        for (i = 1; i <= n; i++)
            if (piece[i] != "" && index(words, " " piece[i] " ")) {
                printf "%s:%d: %s\n", FILENAME, FNR, name
                break
            }
    }
}

# embed.awk: turns files into a C file of string tables.
#   awk -f embed.awk table=NAME FILE... table=NAME FILE... > embedded.c
# Each table is an array of bn_embedded (host/api/embedded_files.h) and ends with a NULL name. A self-test case
# data/cases/flow/selftest.toml (or data/studies/...) is called selftest/flow.toml, another one selftest-heat.toml beside it
# selftest/flow/heat.toml; every other file keeps its path. What is no text (pictures) becomes octal numbers.

function c_text(line)
{
    gsub(/\\/, "&&", line) # the portable way to double it
    gsub(/"/, "\\\"", line)
    gsub(/\?/, "\\?", line) # two in a row would begin a trigraph
    gsub(/\t/, "\\t", line)
    return "\"" line "\\n\""
}

function name_of(path,    part)
{
    if (path !~ /\/selftest(-[^\/]*)?\.toml$/)
        return path
    split(path, part, "/")
    sub(/^selftest-?/, "", part[4])
    return "selftest/" part[3] (part[4] == ".toml" ? "" : "/") part[4]
}

# Prints what a file that is no text holds; returns how many bytes it has.
function print_bytes(path,    command, line, part, count, i, n)
{
    command = "od -An -v -to1 '" path "'"
    while ((status = (command | getline line)) > 0) {
        n = split(line, part, " ")
        printf "      \""
        for (i = 1; i <= n; i++)
            printf "\\%s", part[i]
        print "\""
        count += n
    }
    if (close(command) != 0)
        status = -1
    return count
}

function end_table()
{
    if (open)
        print "    { NULL, NULL, 0 },\n};"
    open = 0
}

BEGIN {
    print "/* Made by host/build/embed.awk from the files it names. */"
    print "#include \"device/embedded.h\"\n#include <stddef.h>"
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] ~ /^table=/) {
            end_table()
            printf "\nconst bn_embedded %s[] = {\n", substr(ARGV[i], 7)
            open = 1
            continue
        }
        printf "    { \"%s\",\n", name_of(ARGV[i])
        count = 0
        bytes = 0
        if (ARGV[i] ~ /\.(png|tif)$/) {
            count = bytes = print_bytes(ARGV[i])
        } else {
            while ((status = (getline line < ARGV[i])) > 0) {
                print "      " c_text(line)
                count++
            }
            close(ARGV[i])
        }
        if (status < 0) {
            print "embed.awk: cannot read " ARGV[i] > "/dev/stderr"
            exit 1
        }
        print (count ? "      , " : "      \"\", ") bytes " },"
    }
    end_table()
}

#!/bin/sh
# man.sh: the manual pages, from what the program says of itself: binnacle.1, and binnacle-COMMAND.1 for each command.
#   sh man.sh build/binnacle build/man
set -eu
program=$1 folder=$2
version=$("$program" --version | sed -n '1s/^binnacle //p')
rm -rf "$folder"
mkdir -p "$folder"

# Text as it stands: hyphens and backslashes are not for troff, nor are dots and quotes at the beginning of a line.
plain()
{
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
}

# section TITLE, then text; nothing without text.
section()
{
    text=$(plain)
    [ -z "$text" ] || printf '.SH %s\n.nf\n%s\n.fi\n' "$1" "$text"
}

# between FIRST LAST: lines after the one that begins with FIRST, up to the one that begins with LAST.
between()
{
    awk -v first="$1" -v last="$2" 'last != "" && index($0, last) == 1 { on = 0 } on { print } index($0, first) == 1 { on = 1 }'
}

head_of() # NAME, TEXT
{
    printf '.TH %s 1 "" "binnacle %s" "User Commands"\n.SH NAME\n%s \\- %s\n' "$(echo "$1" | tr '[:lower:]' '[:upper:]')" "$version" "$1" "$(echo "$2" | plain)"
}

"$program" --help >"$folder/all.txt"
commands=$(sed -n 's/^  binnacle \([a-z]*\) .*/\1/p' "$folder/all.txt")
exits=$(grep -A1 '^Exit: ' "$folder/all.txt" | sed -e 's/^Exit: //' -e 's/^ *//' | tr ';' '\n' | sed -e 's/^ *//' -e '/^$/d')
for command in $commands; do
    "$program" "$command" --help | sed '/^Exit: /,$d' >"$folder/one.txt"
    page=$folder/binnacle-$command.1
    {
        head_of "binnacle-$command" "$(sed -n '2s/^ *//p' "$folder/one.txt")"
        head -n 1 "$folder/one.txt" | sed 's/$/ [OPTION].../' | section SYNOPSIS
        sed -n '3,$p' "$folder/one.txt" | sed '/^Options:/,$d' | section DESCRIPTION
        between Options: '' <"$folder/one.txt" | section OPTIONS
        echo "$exits" | section '"EXIT STATUS"'
        printf '.SH "SEE ALSO"\n.BR binnacle (1)\n'
    } >"$page"
done
{
    head_of binnacle "$(head -n 1 "$folder/all.txt" | sed 's/\.$//')"
    printf '.SH SYNOPSIS\n.B binnacle\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n'
    sed -n '2,/^Solvers:/p' "$folder/all.txt" | sed '$d' | section COMMANDS
    between Solvers: Options <"$folder/all.txt" | section SOLVERS
    sed -n '/^Options of all/,/^Environment:/p' "$folder/all.txt" | sed '1d;$d' | section '"OPTIONS OF ALL COMMANDS"'
    sed -n 's/^Environment: //p' "$folder/all.txt" | section ENVIRONMENT
    echo "$exits" | section '"EXIT STATUS"'
    printf '.SH "SEE ALSO"\n'
    for command in $commands; do
        echo ".BR binnacle-$command (1)"
    done | sed '$!s/$/,/'
} >"$folder/binnacle.1"
rm "$folder/all.txt" "$folder/one.txt"

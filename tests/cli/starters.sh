#!/bin/sh
# starters.sh: what `new` and `cases` give: every starter runs and leaves pictures in which something is to be seen, and
# a shipped case comes with the files that it names.
. tests/cli_lib.subr
b=$BINNACLE

# Without long tests, a tenth of the photons, which show the slits as well.
fewer()
{
    case ${BN_TEST_LONG:-}$1 in xray) echo --set source.photons=1e6 ;; esac
}
for pair in bpm:intensity flood:depth flow:temperature maxwell:E xray:detector; do
    solver=${pair%%:*} name=${pair#*:}
    ok "the starter of $solver" sh -c '"$0" new "$1" >"$2/$1.toml"' "$b" "$solver" "$work"
    lines=$(wc -l <"$work/$solver.toml")
    ok "... has 20 to 48 lines ($lines)" test "$lines" -ge 20 -a "$lines" -le 48
    # shellcheck disable=SC2046 # words
    ok "... runs" "$b" run "$work/$solver.toml" --out "$work/$solver.out" --quiet --set output.vtk=false $(fewer "$solver")
    picture=$(ls "$work/$solver.out/pictures/$name"*.png | tail -n 1)
    changes=$(python3 tests/cli/starters/structure.py "$picture")
    ok "... and $(basename "$picture") has structure ($changes kinds of change)" test "${changes:-0}" -ge 30
done
expect 0 'kind += "wall" +# wall . slip' 'every key, explained' "$b" new flow --all
expect 0 'flood/house +as its files +A house of three storeys' 'the list of cases' "$b" cases
expect 0 '^flow/obstacle +441 x 83 ' 'a word of the first sentence' "$b" cases cylinder
expect 1 'no case is called `hause`.*did you mean `house`' 'no such case' "$b" cases hause
ok 'a case with its files' "$b" cases flood/house --out "$work/copy"
ok '... which are those of the tree' cmp data/cases/flood/house-2.png "$work/copy/house-2.png"
ok '... and can be run' "$b" check "$work/copy/house.toml"
echo other >"$work/copy/house-1.png"
expect 6 'house-1.png is another file' 'a file that is there is not replaced' "$b" cases flood/house --out "$work/copy"
expect 0 '^Options:' 'help of a command' "$b" help cases
expect 0 '399 x 1 = 399 nodes' 'a case from standard input' sh -c '"$0" new bpm | "$0" check -' "$b"
expect 2 'stdin:1:1' '... that is wrong' sh -c 'echo x = 1 | "$0" check -' "$b"
expect 1 'give it a file' '... where processes would have to read it again' "$b" verify -
finish

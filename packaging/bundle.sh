#!/bin/sh
# bundle.sh: the program to carry: one folder with all it needs but glibc, GCC's libraries where the machine has them, and drivers of
# OpenCL; packed.
#   BUILD= VERSION= LINK= LIBS= OBJECTS= LIBRARY= TREE= sh bundle.sh
# TREE: the folder is left there, with the shared library, and not packed: it becomes part of a Python wheel.
# Libraries lie in two folders. lib/binnacle has those that nobody else in the process uses. lib/binnacle/spare has the OpenCL loader
# and what drivers use, too: the machine's own are taken before them, so that a driver meets the libraries it was made for.
set -eu
machine=$(uname -m)
name=binnacle-$VERSION-$machine
top=${TREE:-$BUILD/$name}
own=$top/lib/binnacle spare=$top/lib/binnacle/spare
system=/usr/lib/$machine-linux-gnu:/lib/$machine-linux-gnu:/usr/lib64:/lib64:/usr/lib:/lib:/usr/local/lib
command -v patchelf >/dev/null || { echo 'make bundle needs patchelf (package patchelf)' >&2; exit 1; }
rm -rf "$top" "$top.tar.xz"
mkdir -p "$top/bin" "$spare" "$top/share/binnacle/udunits" "$top/share/binnacle/fonts" "$top/share/doc"

# shellcheck disable=SC2086 # lists
$LINK -Wl,--gc-sections -o "$top/bin/binnacle" $OBJECTS $LIBS
strip "$top/bin/binnacle"
made=$top/bin/binnacle
if [ -n "${TREE:-}" ]; then
    made=$top/lib/libbinnacle.so
    # shellcheck disable=SC2086 # lists
    $LINK -shared -Wl,--gc-sections -Wl,--version-script=host/build/exports.map -o "$made" $LIBRARY $LIBS
    strip --strip-unneeded "$made"
fi

# HDF5 reads files from the network by curl, which brings Kerberos and LDAP. Here another library takes its place and finds no network.
none=$(realpath "$BUILD")/no_curl
mkdir -p "$none"
hdf5=$(ldd "$top/bin/binnacle" | awk '/libhdf5/ { print $3 }')
curl=${hdf5:+$(objdump -p "$hdf5" | awk '$1 == "NEEDED" && /libcurl/ { print $2 }')}
if [ -n "$curl" ]; then
    calls=$(nm -D --undefined-only "$hdf5" | awk '$2 ~ /^curl_/ { print $2 }') # curl_easy_init@CURL_OPENSSL_4
    printf '%s { global: curl_*; };\n' "$(printf '%s\n' "$calls" | sed -n '1s/.*@//p')" >"$none/map"
    printf '%s\n' "$calls" | sed 's/@.*//; s/.*/extern "C" void *&(void) { return 0; }/' |
        $LINK -shared -fPIC -Wl,-soname,libno-curl.so -Wl,--version-script="$none/map" -x c++ -o "$none/$curl" -
    cp "$none/$curl" "$own/libno-curl.so"
fi
[ ! -f "$BUILD/binnacle-mpi.so" ] || strip -o "$own/binnacle-mpi.so" "$BUILD/binnacle-mpi.so" # the machine's MPI goes with it

# Only glibc is required of a machine.
LD_LIBRARY_PATH=$none ldd "$top/bin/binnacle" "$made" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | grep -v /no_curl/ | sort -u |
    grep -vE '/(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|nsl|anl|mvec))\.so' | while read -r library; do
    case ${library##*/} in
    libOpenCL.* | libstdc++.* | libgcc_s.* | libz.* | libzstd.* | liblzma.* | libexpat.* | libX* | libxcb* | libbsd.* | libmd.*)
        folder=$spare path=$system:'$ORIGIN' ;;
    *) folder=$own path='$ORIGIN':$system:'$ORIGIN/spare' ;;
    esac
    cp -L "$library" "$folder/"
    chmod 644 "$folder/${library##*/}"
    strip --strip-unneeded "$folder/${library##*/}"
    patchelf --set-rpath "$path" "$folder/${library##*/}"
    [ -z "$curl" ] || patchelf --replace-needed "$curl" libno-curl.so "$folder/${library##*/}" # alone: patchelf 0.14 does one thing
    # Who made it and under which terms, where packages tell.
    package=$(dpkg -S "$(readlink -f "$library")" 2>/dev/null | sed -n '1s/:.*//p')
    [ ! -f "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$top/share/doc/$package.txt"
done
patchelf --set-rpath '$ORIGIN/../lib/binnacle':$system:'$ORIGIN/../lib/binnacle/spare' "$top/bin/binnacle"
[ -z "${TREE:-}" ] || patchelf --set-rpath '$ORIGIN/binnacle':$system:'$ORIGIN/binnacle/spare' "$made"

# The database of units, as the library here knows it; a font, so that pictures have their words.
units=
for place in ${UDUNITS2_XML_PATH:-} /usr/share/xml/udunits/udunits2.xml /usr/share/udunits/udunits2.xml /usr/local/share/udunits/udunits2.xml; do
    [ -n "$units" ] || [ ! -f "$place" ] || units=$(dirname "$place")
done
[ -n "$units" ] || { echo "the database of units (udunits2.xml) is in none of its places; UDUNITS2_XML_PATH names it" >&2; exit 1; }
cp "$units"/udunits2*.xml "$top/share/binnacle/udunits/"
font=$(fc-match -f '%{file}' 'DejaVu Sans' 2>/dev/null || true)
case $font in *DejaVuSans.ttf) ;; *) font=$(find /usr/share/fonts -name DejaVuSans.ttf | head -n 1) ;; esac
[ -n "$font" ] || { echo 'make bundle needs the font DejaVu Sans (package fonts-dejavu-core)' >&2; exit 1; }
cp -L "$font" "$top/share/binnacle/fonts/DejaVuSans.ttf"
cat >"$top/share/binnacle/fonts/fonts.conf" <<'END'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">.</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
END
cp -R data/cases data/materials data/schemas data/tuning "$top/share/binnacle/"
mkdir -p "$top/share/man/man1" "$top/share/bash-completion/completions" "$top/share/zsh/site-functions" \
    "$top/share/fish/vendor_completions.d"
cp "$BUILD"/man/*.1 "$top/share/man/man1/"
cp "$BUILD/binnacle.bash" "$top/share/bash-completion/completions/binnacle"
cp "$BUILD/binnacle.zsh" "$top/share/zsh/site-functions/_binnacle"
cp "$BUILD/binnacle.fish" "$top/share/fish/vendor_completions.d/binnacle.fish"
cp LICENSE README.md "$top/"

glibc=$(find "$top" -type f \( -name 'lib*.so*' -o -name 'binnacle*' \) -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_2\.[0-9]*' | sort -u -t . -k 2 -n | tail -n 1 | sed 's/GLIBC_//')
printf 'Needs glibc %s or newer on %s, and a driver of OpenCL (bin/binnacle devices --check says what it finds).\n' "$glibc" "$machine" \
    >"$top/NEEDS"
[ -z "${TREE:-}" ] || exit 0
tar -C "$BUILD" --owner=0 --group=0 --numeric-owner --sort=name -cf - "$name" | xz -9e -T1 >"$top.tar.xz.new"
mv "$top.tar.xz.new" "$top.tar.xz"
rm -rf "$top"
bytes=$(wc -c <"$top.tar.xz")
echo "$top.tar.xz: $((bytes / 1000)) kB, for glibc $glibc or newer"

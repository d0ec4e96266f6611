#!/bin/sh
# deb.sh: a Debian package of what `make install` puts below /usr.
#   BUILD= VERSION= SOVERSION= LIBS= sh deb.sh
set -eu
command -v dpkg-shlibdeps >/dev/null || { echo 'make deb needs dpkg-shlibdeps (package dpkg-dev)' >&2; exit 1; }
architecture=$(dpkg --print-architecture)
work=$BUILD/deb
root=$work/root
rm -rf "$work"
mkdir -p "$root/DEBIAN" "$work/debian"
DESTDIR=$(cd "$root" && pwd) PREFIX=/usr sh host/build/install.sh install >/dev/null
rm -f "$root/usr/share/binnacle/installed.txt" # dpkg keeps the list
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
mkdir -p "$root/usr/share/doc/binnacle"
cp LICENSE "$root/usr/share/doc/binnacle/copyright"
find "$root/usr" -type f \( -name 'lib*.so.*' -o -name binnacle-mpi.so -o -path '*/bin/binnacle' \) -exec strip --strip-unneeded {} +
find "$root" -type d -exec chmod 755 {} +

printf 'Source: binnacle\n\nPackage: binnacle\nArchitecture: any\n' >"$work/debian/control"
depends()
{
    (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$@" 2>shlibdeps.log) | sed 's/^shlibs:Depends=//' ||
        { cat "$work/shlibdeps.log" >&2; exit 1; }
}
libraries=$(depends root/usr/bin/binnacle root/usr/lib/libbinnacle.so."$VERSION")
mpi=
[ ! -f "$root/usr/lib/binnacle/binnacle-mpi.so" ] || mpi=$(depends root/usr/lib/binnacle/binnacle-mpi.so | sed 's/libc6 [^,]*, *//')
[ -n "$libraries" ] || { cat "$work/shlibdeps.log" >&2; exit 1; }
cat >"$root/DEBIAN/control" <<END
Package: binnacle
Version: $VERSION
Architecture: $architecture
Maintainer: Binnacle developers <binnacle@localhost>
Section: science
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $libraries, fonts-dejavu-core
Recommends: pocl-opencl-icd | opencl-icd
Suggests: ${mpi:-openmpi-bin}
Description: physics solvers for any OpenCL device
 Flow and heat, Maxwell equations, x-ray scattering, shallow water and beam propagation on GPUs and CPUs of any vendor, with the same
 bits on each, from case files to fields, pictures and tables.
END
package=$BUILD/binnacle_${VERSION}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$work"
echo "$package"

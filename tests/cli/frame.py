# frame.py: a hash over the pixels within the frame of a picture, which is found as the largest box of coloured ones.
#   python3 frame.py FILE.png
import hashlib
import struct
import sys
import zlib

data = open(sys.argv[1], "rb").read()
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    if kind == b"IHDR":
        width, height, depth, colour = struct.unpack(">IIBB", body[:10])
    if kind == b"IDAT":
        packed += body
    at += 12 + size
n = {0: 1, 2: 3, 3: 1, 6: 4}[colour]
assert depth == 8 and n >= 3, (depth, colour)
raw, line, rows = zlib.decompress(packed), bytearray(width * n), []
for y in range(height):
    kind, row = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
    for i in range(width * n) if kind else ():  # a row without a filter, as ours are, stands there as it is
        a = row[i - n] if i >= n else 0
        b, c = line[i], line[i - n] if i >= n else 0
        p = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        paeth = a if p[0] <= p[1] and p[0] <= p[2] else b if p[1] <= p[2] else c
        row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
    rows.append(row)
    line = row


def coloured(p):
    return max(p) - min(p) > 30


# the middle row's first run of colours, and how far it goes up and down
y = height // 2
x = [coloured(rows[y][k * n:k * n + 3]) for k in range(width)]
left = x.index(True)
right = left + x[left:].index(False)
up = down = y
middle = (left + right) // 2
while coloured(rows[up - 1][middle * n:middle * n + 3]):
    up -= 1
while coloured(rows[down + 1][middle * n:middle * n + 3]):
    down += 1
cells = {bytes(rows[r][k * n:k * n + 3]) for r in range(up, down) for k in range(left, right)}
print(right - left, down - up, len(cells), hashlib.sha256(b"".join(sorted(cells))).hexdigest()[:16])

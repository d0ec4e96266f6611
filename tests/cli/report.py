# report.py: whether a report is well-formed, can be read without eyes, needs nothing from outside, and says what its run
# wrote.
#   python3 report.py REPORT.html [SUMMARY.json]
import csv
import html.parser
import json
import os
import sys

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.links, self.count, self.paths = [], [], [], {}, []
        self.rows, self.cell, self.caption, self.tables = [], None, None, {}

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.count[tag] = self.count.get(tag, 0) + 1
        self.wrong += ["%s twice in <%s>" % (n, tag) for n, _ in attributes if [m for m, _ in attributes].count(n) > 1]
        if tag == "html" and a.get("lang") != "en":
            self.wrong.append("no language")
        if tag == "img" and not a.get("alt"):
            self.wrong.append("a picture without words")
        if tag == "th" and "scope" not in a:
            self.wrong.append("a head of a table that does not say of what")
        if tag == "svg" and not (a.get("aria-hidden") or (a.get("role") == "img" and a.get("aria-label"))):
            self.wrong.append("a chart without words")
        if tag == "path" and "data-y" in a:
            self.paths.append(a)
        if tag in ("script", "link", "iframe") and ("src" in a or "href" in a):
            self.wrong.append("<%s> from elsewhere" % tag)
        self.links += [a[n] for n in ("href", "src") if a.get(n) and tag in ("a", "img")]
        if tag == "tr":
            self.rows.append([])
            self.tables.setdefault(self.caption, []).append(self.rows[-1])
        if tag in ("td", "th", "caption"):
            self.cell = ""
        if tag == "data":
            self.cell = a["value"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> at line %d closes another" % (tag, self.getpos()[0]))
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None
        if tag == "caption":
            self.caption, self.cell = self.cell, None

    def handle_data(self, text):
        if self.cell is not None and self.open[-1] != "data":
            self.cell += text


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
page.close()
assert not page.wrong, page.wrong
assert not page.open, page.open
assert page.count["h1"] == 1 and page.count["title"] == 1, page.count
folder = os.path.dirname(sys.argv[1])
assert page.links
for link in page.links:
    assert ":" not in link and not link.startswith("/"), link
    assert os.path.exists(os.path.join(folder, link)), link
for path in page.paths:  # as many places as values
    points = path["d"].replace("M", "L").count("L")
    assert points == len(path["data-x"].split()) == len(path["data-y"].split()), path["data-name"]
if len(sys.argv) > 2:
    summary = json.load(open(sys.argv[2]))
    found = {row[0]: row[1] for row in page.tables["Results"]}
    assert summary["results"]
    for name, value in summary["results"].items():
        assert found[name] == "none" if value is None else float(found[name]) == value, name
    total = [row for row in page.rows if row[0] == "in all"][0][1]
    assert float(total.split()[0]) == summary["timings"]["total"]
    for name, field in summary["fields"].items():
        assert [name, str(field["bytes"]), field["hash"]] in page.rows, name
    series = list(csv.reader(open(os.path.join(folder, "series.csv"))))
    drawn = [p for p in page.paths if p["data-name"] == series[0][-1].split(" [")[0]]
    if len(series) > 2 and drawn:
        numbers = [float("%.6g" % float(row[-1])) for row in series[1:] if row[-1]]
        shown = [float(y) for y in drawn[-1]["data-y"].split()]
        assert shown == numbers if len(numbers) <= 1000 else set(shown) <= set(numbers), drawn[-1]["data-name"]
print("%d links, %d lines in charts" % (len(page.links), len(page.paths)))

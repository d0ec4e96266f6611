#!/usr/bin/env python3
"""links.py FILE.md...: files and headings that links of documents name, and that are not there. Pages that the program
writes for the site (packaging/site/hooks.py) are known by name."""
import os
import re
import sys

GENERATED = re.compile(r"docs/(commands|results|keys-(flow|maxwell|xray|flood|bpm))\.md$")


def headings(path):
    """Anchors of a document, by the rule of GitHub."""
    anchors, fenced = set(), False
    for line in open(path, encoding="utf-8"):
        fenced ^= line.startswith("```")
        if not fenced and re.match(r"#+ ", line):
            text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            anchors.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return anchors


bad = count = 0
for path in sys.argv[1:]:
    text = re.sub(r"^```.*?^```", "", open(path, encoding="utf-8").read(), flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if GENERATED.search(file):
            continue
        if not os.path.exists(file):
            print(f"{path}: {target}: no such file")
            bad += 1
        elif anchor and file.endswith(".md") and anchor not in headings(file):
            print(f"{path}: {target}: no such heading")
            bad += 1
print(f"{count} links, {bad} of them lead nowhere")
sys.exit(bad > 0 or count == 0)

"""Hooks of MkDocs: pages that the program writes about itself, and equations as MathML, which browsers draw without
a script or a network. BINNACLE names the program."""
import glob
import html
import json
import os
import re
import subprocess

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PROGRAM = os.environ.get("BINNACLE", os.path.join(ROOT, "build/binnacle"))
SOLVERS = ("flow", "maxwell", "xray", "flood", "bpm")
CSS = """math { font-size: 1.1em } math[display=block] { margin: 1em 0 }
.md-typeset table:not([class]) td, .md-typeset table:not([class]) th { padding: .4em .8em }
.md-typeset .arithmatex { overflow-x: auto }
[data-md-color-scheme] .highlight { --light: #555; --md-code-hl-comment-color: var(--light); --md-code-hl-operator-color: var(--light);
  --md-code-hl-punctuation-color: var(--light); --md-code-hl-variable-color: var(--light); --md-code-hl-generic-color: var(--light) }
[data-md-color-scheme=slate] .highlight { --light: #bbb }
"""
# What is wider than its place can be scrolled by keys, too.
JS = """const focusable = () => {
  for (const e of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) e.tabIndex = 0;
};
document$.subscribe(() => { focusable(); requestAnimationFrame(focusable); });
"""


def ask(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


def fenced(text, language="text"):
    return f"```{language}\n{text.rstrip()}\n```\n"


def commands():
    names = re.findall(r"^  binnacle (\w+) ", ask("--help"), re.M)
    page = "# Commands\nWhat the program says of itself; `man binnacle-run` has the same.\n\n" + fenced(ask("--help"))
    for name in names:
        page += f"\n## {name}\n" + fenced(ask("help", name).split("\nExit: ")[0])
    return page


def keys(solver):
    """The program's own list of all keys, `binnacle new SOLVER --all`, as tables."""
    rows, page, repeated = [], "", False
    head = "| key | default | what it is |\n|---|---|---|\n"

    def close():
        nonlocal page, rows
        if rows:
            page += head + "".join("| {} | {} | {} |\n".format(*(" ".join(r[k].split()).replace("|", "\\|") for k in range(3))) for r in rows)
        rows = []

    for line in ask("new", solver, "--all").splitlines():
        repeated = repeated or "any number of these" in line
        section = re.match(r"(?:# )?\[+([\w.]+)\]+", line)
        key = re.match(r"(?:# )?(\w+) +=\s+(.*?)\s+# (.*)", line)
        more = re.match(r"(?:# )? {20,}# (.*)", line)
        if section:
            close()
            page += f"\n## {section[1]}\n" + ("As often as needed: `[[%s]]`.\n\n" % section[1] if repeated else "\n")
            repeated = False
        elif key:
            rows.append([f"`{key[1]}`", f"`{key[2]}`", key[3]])
        elif more and rows:
            rows[-1][2] += " " + more[1]
    close()
    page = page.replace("<", "&lt;")
    return (f"# Keys of {solver}\nEvery key of a case for `{solver}`, as `binnacle new {solver} --all` lists them. A number without a unit "
            f"is in SI; a text carries its unit: `\"532 nm\"`. What they mean: [{solver}]({solver}.md).\n" + page)


def results():
    """Results by solver, from what `check --json` says of the cases that ship: a case has those that apply to it."""
    page = "# Results\nNumbers in `summary.json` under `results`; a case has those that apply to it. What is not a number is `null`.\n"
    for solver in SOLVERS:
        found = {}
        for case in sorted(glob.glob(f"{ROOT}/data/cases/{solver}/*.toml")):
            told = json.loads(ask("check", case, "--json"))
            found.update({r["name"]: r for r in told["results"]})
        page += f"\n## {solver}\n| result | unit | meaning |\n|---|---|---|\n"
        for r in found.values():
            page += f"| `{r['name']}` | {r['unit'] or '1'} | {html.escape(r['meaning']).replace('|', chr(92) + '|')} |\n"
    return page


def on_files(files, config):
    made = {"commands.md": commands(), "results.md": results(), "site.css": CSS, "site.js": JS}
    for solver in SOLVERS:
        made[f"keys-{solver}.md"] = keys(solver)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    # Files of the project outside of docs/ have no page: the text stays, the link goes.
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", r"\1", markdown)


def on_page_content(content, page, config, files):
    def mathml(match):
        text = html.unescape(match[2]).strip()
        block = text.startswith("\\[")
        return convert(text[2:-2].strip(), display="block" if block else "inline")
    return re.sub(r'<(div|span) class="arithmatex">(.*?)</\1>', mathml, content, flags=re.S)

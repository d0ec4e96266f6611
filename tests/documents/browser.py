#!/usr/bin/env python3
"""browser.py CHROMIUM AXE PAGE.html...: opens pages without a network; an error in the console, a picture that does not
load, or what axe-core finds against accessibility is a failure. A screenshot is left beside each page as PAGE.html.png."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile

CHECK = """<script src="%s"></script><script>
addEventListener("load", async () => {
  const images = [...document.images].filter(i => !i.src.startsWith("data:"));
  for (const i of images) i.loading = "eager";
  for (let k = 0; k < 200 && images.some(i => !i.complete); k++) await new Promise(done => setTimeout(done, 50));
  const found = await axe.run(document, { resultTypes: ["violations"] });
  const out = document.createElement("pre");
  out.id = "checked";
  out.textContent = JSON.stringify({
    images: images.length, missing: images.filter(i => !i.naturalWidth).map(i => i.getAttribute("src")), rules: found.passes.length,
    violations: found.violations.map(v => [v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 150)]) });
  document.body.append(out);
});
</script></body>"""

browser, axe, pages = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
bad = 0


def chromium(profile, *options):
    return subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND",
                           f"--user-data-dir={profile}", "--hide-scrollbars", "--window-size=1280,2600", "--virtual-time-budget=60000", *options],
                          capture_output=True, text=True, timeout=300)


for page in map(os.path.abspath, pages):
    copy = page + ".checked.html"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with open(copy, "w", encoding="utf-8") as f:
            f.write(open(page, encoding="utf-8").read().replace("</body>", CHECK % ("file://" + axe)))
        done = chromium(profile, "--dump-dom", "file://" + copy)
        chromium(profile, f"--screenshot={page}.png", "file://" + page)
    os.remove(copy)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line and "axe" not in line]
    told = re.search(r'<pre id="checked">(.*?)</pre>', done.stdout, re.S)
    if not told:
        print(f"{page}: the page did not end its checks\n{done.stderr[-1500:]}")
        bad += 1
        continue
    result = json.loads(html.unescape(told[1]))
    fine = not console and not result["missing"] and not result["violations"] and result["rules"] > 5 and os.path.exists(page + ".png")
    print(f"{'ok' if fine else 'NOT OK'}: {page}: {result['images']} pictures, {result['rules']} rules")
    for line in [*console, *(f"no picture {m}" for m in result["missing"]), *map(str, result["violations"])]:
        print("  " + line)
    bad += not fine
sys.exit(bad > 0 or not pages)

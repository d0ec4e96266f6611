/* html.c: what all pages share: head, style, tables, charts as SVG, and the script that shows values. */
#include "output/html.h"

#include "io/decimal.h"
#include "plot/labels.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Of a chart [SVG units], and how many pieces of a long line keep their lowest and highest point. */
enum { WIDTH = 640, HEIGHT = 320, LEFT = 78, RIGHT = 16, TOP = 34, BELOW = 50, PIECES = 500 };

/* Contrast of all texts against white is above 7:1. */
static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:70rem;margin:0 auto;padding:1rem}"
    "h1,h2{line-height:1.2}h2{margin-top:2rem;border-bottom:1px solid #767676}"
    "table{border-collapse:collapse;margin:1rem 0}caption{text-align:left;font-weight:600}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ccc}"
    "td data{font-variant-numeric:tabular-nums}figure{margin:1rem 0}img{max-width:100%;height:auto}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 1rem}"
    "figure>svg{width:100%;max-width:50rem;height:auto;touch-action:pan-y;user-select:none}svg text{font:13px "
    "system-ui,sans-serif;fill:#1a1a1a}"
    "a{color:#003e8a}pre{overflow-x:auto;background:#f4f4f4;padding:.5rem}.wide{overflow-x:auto}"
    ".bad{color:#8a0000;font-weight:600;white-space:pre-wrap}output{display:block;min-height:1.5em}";

/* The pointer, or the arrow keys, pick the nearest point of the first line; the others give theirs at that place.
 * Drawing across a chart, or the keys + and -, show a part of it; a double click, or Escape, all of it again. The lines
 * are an SVG of their own, whose box is moved; the axis then names the ends of what is shown. */
static const char script[] =
    "for(const s of document.querySelectorAll('svg[data-x]')){"
    "const out=s.parentNode.querySelector('output'),inner=s.querySelector('svg'),box=inner.viewBox.baseVal,"
    "all=[box.x,box.width],cursor=s.querySelector('.cursor'),ticks=s.querySelector('.ticks'),ends=s.querySelector('."
    "ends');"
    "const lines=[...s.querySelectorAll('path[data-y]')].filter(p=>p.dataset.x).map(p=>({name:p.dataset.name,"
    "x:p.dataset.x.split(' '),y:p.dataset.y.split(' '),"
    "at:p.getAttribute('d').match(/-?[\\d.]+ /g).map(Number)}));let now=-1,from=null;"
    "const nearest=(l,at)=>{let b=0;l.at.forEach((v,k)=>{if(Math.abs(v-at)<Math.abs(l.at[b]-at))b=k});return b};"
    "const place=e=>{const r=s.getBoundingClientRect(),u=(e.clientX-r.left)/r.width*s.viewBox.baseVal.width;"
    "return box.x+(u-all[0])/all[1]*box.width};"
    "const show=i=>{now=i;const at=lines[0].at[i];cursor.setAttribute('x1',at);cursor.setAttribute('x2',at);"
    "cursor.setAttribute('visibility','visible');"
    "out.textContent=s.dataset.x+' = '+lines[0].x[i]+': '+lines.map(l=>{const k=nearest(l,at);"
    "return l.name+' = '+l.y[k]}).join(', ')};"
    "const zoom=(a,b)=>{a=Math.max(a,all[0]);b=Math.min(b,all[0]+all[1]);if(b-a<all[1]*1e-3)return;"
    "box.x=a;box.width=b-a;const whole=b-a>all[1]*.999;"
    "ticks.setAttribute('visibility',whole?'visible':'hidden');ends.setAttribute('visibility',whole?'hidden':'visible')"
    ";"
    "[a,b].forEach((v,k)=>ends.children[k].textContent=lines[0].x[nearest(lines[0],v)])};"
    "const part=f=>{const m=now<0?box.x+box.width/2:lines[0].at[now],w=Math.min(box.width*f,all[1]);"
    "zoom(m-w/2,m+w/2)},reset=()=>zoom(all[0],all[0]+all[1]);"
    "s.addEventListener('pointerdown',e=>{from=place(e)});"
    "s.addEventListener('pointerup',e=>{const to=place(e);"
    "if(from!==null&&Math.abs(to-from)>box.width*.02)zoom(Math.min(from,to),Math.max(from,to));from=null});"
    "s.addEventListener('dblclick',reset);"
    "s.addEventListener('pointermove',e=>show(nearest(lines[0],place(e))));"
    "s.addEventListener('keydown',e=>{const d={ArrowLeft:-1,ArrowRight:1}[e.key];"
    "const done={'+':()=>part(.5),'-':()=>part(2),Escape:reset}[e.key];if(d||done)e.preventDefault();if(done)done();"
    "if(d)show(Math.max(0,Math.min(lines[0].at.length-1,now+d)))})}";

void bn_html_begin(bn_string *b, const char *title)
{
    bn_html_add(b,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n",
                title);
    bn_string_add(b, "<style>%s</style>\n</head>\n<body>\n<main>\n", style);
    bn_html_add(b, "<h1>%s</h1>\n", title);
}

void bn_html_end(bn_string *b) { bn_string_add(b, "</main>\n<script>%s</script>\n</body>\n</html>\n", script); }

void bn_html_text(bn_string *b, const char *text)
{
    static const struct {
        char sign;
        const char *name;
    } names[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };
    size_t left = text ? strlen(text) : 0;
    while (left > 0) {
        const size_t bytes = bn_utf8_bytes(text, left), step = bytes ? bytes : 1;
        const char *shown = text;
        size_t count = step;
        const bool control = (unsigned char)*text < 0x20 && *text != '\n' && *text != '\t';
        if (!bytes || control || *text == 0x7f)
            shown = "?", count = 1;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (*text == names[i].sign)
                shown = names[i].name, count = strlen(shown);
        bn_string_add_bytes(b, shown, count);
        text += step;
        left -= step;
    }
}

void bn_html_add(bn_string *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        bn_string_add_bytes(b, at, plain);
        at += plain;
        if (strncmp(at, "%zu", 3) == 0) {
            bn_string_add(b, "%zu", va_arg(args, size_t));
            at += 3;
        } else if (*at) {
            bn_html_text(b, va_arg(args, const char *));
            at += 2;
        }
    }
    va_end(args);
}

void bn_html_heading(bn_string *b, const char *text) { bn_html_add(b, "<h2>%s</h2>\n", text); }

void bn_html_table(bn_string *b, const char *caption, const char *heads)
{
    bn_html_add(b, "<table>\n<caption>%s</caption>\n<tr>", caption);
    for (const char *at = heads; *at;) {
        const int bytes = (int)strcspn(at, "|");
        bn_string_add(b, "<th scope=\"col\">%.*s</th>", bytes, at);
        at += bytes + (at[bytes] == '|');
    }
    bn_string_add(b, "</tr>\n");
}

static void add_short(bn_string *b, double value)
{
    char text[BN_DECIMAL_BYTES];
    bn_decimal_short(text, 6, value);
    bn_string_add(b, "%s", text);
}

void bn_html_number(bn_string *b, double value)
{
    char all[BN_DECIMAL_BYTES];
    if (!isfinite(value)) {
        bn_string_add(b, "none");
        return;
    }
    bn_decimal_format(all, value);
    bn_string_add(b, "<data value=\"%s\">", all);
    add_short(b, value);
    bn_string_add(b, "</data>");
}

void bn_html_address(bn_string *b, const char *path)
{
    for (; *path; path++)
        if ((*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') || strchr("0123456789-_./", *path))
            bn_string_add(b, "%c", *path);
        else
            bn_string_add(b, "%%%02X", (unsigned)(unsigned char)*path);
}

void bn_html_link(bn_string *b, const char *path)
{
    bn_string_add(b, "<a href=\"");
    bn_html_address(b, path);
    bn_html_add(b, "\">%s</a>", path);
}

typedef struct scale {
    double low, high; /* logarithms when `log` */
    bool log;
} scale;

static double on(const scale *s, double value) { return s->log ? log10(value) : value; }
static bool has(const scale *s, double value) { return isfinite(value) && (!s->log || value > 0); }
static double across(const scale *s, double v)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (on(s, v) - s->low) / (s->high - s->low);
}
static double up(const scale *s, double v)
{
    return HEIGHT - BELOW - (HEIGHT - TOP - BELOW) * (on(s, v) - s->low) / (s->high - s->low);
}

/* Takes in a value; the range of one value alone gets a width. */
static void widen(scale *s, double value)
{
    if (has(s, value)) {
        s->low = fmin(s->low, on(s, value));
        s->high = fmax(s->high, on(s, value));
    }
}

/* Makes room for a line whose values are all equal. */
static void widen_if_flat(scale *s)
{
    const double least = s->log ? 0.1 : fmax(fmax(fabs(s->low), fabs(s->high)) * 1e-9, DBL_MIN * 1e9);
    if (!(s->high - s->low >= least)) {
        s->low -= least;
        s->high += least;
    }
}

/* A place in the chart, to a tenth of a unit. */
static void add_place(bn_string *b, char sign, double x, double y)
{
    char at[2][BN_DECIMAL_BYTES];
    bn_decimal_fixed(at[0], sizeof at[0], 1, x);
    bn_decimal_fixed(at[1], sizeof at[1], 1, y);
    bn_string_add(b, "%c%s %s", sign, at[0], at[1]);
}

static bn_ticks ticks_of(const scale *s, bool upright)
{
    bn_ticks ticks = { .count = 0 };
    if (s->log)
        bn_ticks_log(&ticks, s->low, s->high, 5);
    else
        bn_ticks_linear(&ticks, s->low, s->high, upright ? 5 : 7);
    return ticks;
}

static void add_ticks(bn_string *b, const scale *s, bool upright)
{
    const bn_ticks ticks = ticks_of(s, upright);
    for (int i = 0; i < ticks.count; i++) {
        const double part = (ticks.at[i] - s->low) / (s->high - s->low);
        const double x = LEFT + (WIDTH - LEFT - RIGHT) * part, y = HEIGHT - BELOW - (HEIGHT - TOP - BELOW) * part;
        if (!ticks.text[i][0] || part < -1e-9 || part > 1 + 1e-9)
            continue;
        bn_string_add(b, "<path stroke=\"#ddd\" d=\"");
        add_place(b, 'M', upright ? LEFT : x, upright ? y : TOP);
        add_place(b, 'L', upright ? WIDTH - RIGHT : x, upright ? y : HEIGHT - BELOW);
        bn_string_add(b, "\"/><text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", upright ? LEFT - 6 : (int)x,
                      upright ? (int)y + 4 : HEIGHT - BELOW + 17, upright ? "end" : "middle");
        bn_html_add(b, "%s</text>\n", ticks.text[i]);
    }
}

static void add_axis_name(bn_string *b, const scale *s, const char *label, bool upright)
{
    const bn_ticks ticks = ticks_of(s, upright);
    char name[BN_LABEL_BYTES];
    bn_label_text(name, sizeof name, label, &ticks);
    if (upright)
        bn_string_add(b, "<text x=\"4\" y=\"%d\">", TOP - 16);
    else
        bn_string_add(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    bn_html_add(b, "%s</text>\n", name);
}

/* Which points of a piece of a long line are drawn: the lowest and the highest. */
static void extremes(const bn_chart_line *l, const scale *y, size_t first, size_t end, size_t *low, size_t *high)
{
    *low = *high = SIZE_MAX;
    for (size_t i = first; i < end; i++)
        if (has(y, l->y[i])) {
            *low = *low == SIZE_MAX || l->y[i] < l->y[*low] ? i : *low;
            *high = *high == SIZE_MAX || l->y[i] > l->y[*high] ? i : *high;
        }
}

/* M. Okabe and K. Ito (2008): colours that all kinds of colour vision tell apart; lines differ by dashes, too. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9" };
static const char *const dashes[] = { "none", "9 4", "2 3", "9 4 2 4" };

static void add_pen(bn_string *b, size_t which)
{
    bn_string_add(
        b,
        "fill=\"none\" vector-effect=\"non-scaling-stroke\" stroke-width=\"2\" stroke=\"%s\" stroke-dasharray=\"%s\"",
        colours[which % (sizeof colours / sizeof *colours)], dashes[which % (sizeof dashes / sizeof *dashes)]);
}

static void add_line(bn_string *b, const bn_chart *c, size_t which, const scale *x, const scale *y)
{
    const bn_chart_line *l = &c->lines[which];
    bn_string xs = { 0 }, ys = { 0 };
    const size_t length = l->count > 2 * PIECES ? (l->count + PIECES - 1) / PIECES : 1;
    size_t low = 0, high = 0;
    bool pen = false;
    bn_string_add(b, "<path ");
    add_pen(b, which);
    bn_html_add(b, " data-name=\"%s\" d=\"", l->label && l->label[0] ? l->label : c->y_label);
    for (size_t i = 0; i < l->count; i++) {
        if (i % length == 0)
            extremes(l, y, i, i + length < l->count ? i + length : l->count, &low, &high);
        if (!has(x, l->x[i]) || !has(y, l->y[i])) {
            pen = false; /* a gap */
            continue;
        }
        if (i != low && i != high)
            continue;
        add_place(b, pen ? 'L' : 'M', across(x, l->x[i]), up(y, l->y[i]));
        bn_string_add(&xs, xs.bytes ? " " : "");
        bn_string_add(&ys, ys.bytes ? " " : "");
        add_short(&xs, l->x[i]);
        add_short(&ys, l->y[i]);
        pen = true;
    }
    bn_string_add(b, "\" data-x=\"%s\" data-y=\"%s\"/>\n", bn_string_text(&xs), bn_string_text(&ys));
    b->failed = b->failed || xs.failed || ys.failed;
    bn_string_clear(&xs);
    bn_string_clear(&ys);
}

/* Names of the lines with their pens, under the chart. */
static void add_legend(bn_string *b, const bn_chart *c)
{
    bn_string_add(b, "<p>");
    for (size_t i = 0; i < c->count; i++) {
        bn_string_add(b, "<svg viewBox=\"0 0 36 10\" style=\"width:36px\" aria-hidden=\"true\"><path d=\"M2 5H34\" ");
        add_pen(b, i);
        bn_html_add(b, "/></svg> %s &emsp;\n", c->lines[i].label);
    }
    bn_string_add(b, "</p>\n");
}

void bn_html_chart(bn_string *b, const bn_chart *c)
{
    scale x = { HUGE_VAL, -HUGE_VAL, c->log_x }, y = { HUGE_VAL, -HUGE_VAL, c->log_y };
    size_t most = 0;
    for (size_t k = 0; k < c->count; k++) {
        size_t there = 0;
        for (size_t i = 0; i < c->lines[k].count; i++)
            if (has(&x, c->lines[k].x[i]) && has(&y, c->lines[k].y[i])) {
                widen(&x, c->lines[k].x[i]);
                widen(&y, c->lines[k].y[i]);
                there++;
            }
        most = there > most ? there : most;
    }
    if (most < 2)
        return;
    const double lowest = y.log ? pow(10, y.low) : y.low, highest = y.log ? pow(10, y.high) : y.high;
    widen_if_flat(&x);
    widen_if_flat(&y);
    bn_string_add(b, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" tabindex=\"0\" data-x=\"", WIDTH, HEIGHT);
    bn_html_add(b, "%s\" aria-label=\"%s over %s: from ", c->x_label, c->y_label, c->x_label);
    add_short(b, lowest);
    bn_string_add(b, " to ");
    add_short(b, highest);
    bn_string_add(b, "; the arrow keys tell the values, + and - show less and more of it\">\n<g class=\"ticks\">\n");
    add_ticks(b, &x, false);
    bn_string_add(b, "</g>\n<g class=\"ends\" visibility=\"hidden\"><text x=\"%d\" y=\"%d\"></text>", LEFT,
                  HEIGHT - BELOW + 17);
    bn_string_add(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\"></text></g>\n", WIDTH - RIGHT, HEIGHT - BELOW + 17);
    add_ticks(b, &y, true);
    add_axis_name(b, &x, c->x_label, false);
    add_axis_name(b, &y, c->y_label, true);
    const int wide = WIDTH - LEFT - RIGHT, high = HEIGHT - TOP - BELOW;
    bn_string_add(b, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\" ", LEFT, TOP, wide,
                  high, LEFT, TOP, wide, high);
    bn_string_add(b, "preserveAspectRatio=\"none\" aria-hidden=\"true\">\n");
    for (size_t k = 0; k < c->count; k++)
        add_line(b, c, k, &x, &y);
    bn_string_add(b, "<line class=\"cursor\" y1=\"%d\" y2=\"%d\" stroke=\"#1a1a1a\" visibility=\"hidden\"", TOP,
                  HEIGHT - BELOW);
    bn_string_add(b, " vector-effect=\"non-scaling-stroke\"/>\n</svg>\n");
    bn_string_add(b, "<path fill=\"none\" stroke=\"#1a1a1a\" d=\"M%d %dV%dH%d\"/>\n</svg>\n", LEFT, TOP, HEIGHT - BELOW,
                  WIDTH - RIGHT);
    if (c->count > 1)
        add_legend(b, c);
    bn_html_add(b, "<output></output>\n<figcaption>%s</figcaption>\n</figure>\n", c->title);
}

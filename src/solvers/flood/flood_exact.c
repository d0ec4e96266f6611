/* flood_exact.c: closed forms that cases are compared with. */
#include "flood.h"

#include <math.h>

/* The root of a function that changes its sign between a and b. */
static double root(double (*f)(double x, const double *p), const double *p, double a, double b)
{
    const bool rising = f(b, p) > 0;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (a + b);
        if ((f(middle, p) > 0) == rising)
            b = middle;
        else
            a = middle;
    }
    return 0.5 * (a + b);
}

/* Behind the shock of a dam break onto water (Stoker 1957): the velocity from the shock less that from the fan. */
static double shock_condition(double h, const double *p)
{
    const double g = p[0], left = p[1], right = p[2];
    return (h - right) * sqrt(0.5 * g * (h + right) / (h * right)) - 2 * (sqrt(g * left) - sqrt(g * h));
}

/* Dam break towards +x at x = 0, on a dry bed (Ritter 1892) or on water. */
static flood_exact dam_break(double g, double left, double right, double x, double t)
{
    const double cl = sqrt(g * left);
    if (t <= 0)
        return (flood_exact){ .h = x < 0 ? left : right };
    double middle = 0, speed = 2 * cl, fan_end = speed, shock = speed;
    if (right > 0) {
        middle = root(shock_condition, (const double[]){ g, left, right }, right, left);
        speed = 2 * (cl - sqrt(g * middle));
        fan_end = speed - sqrt(g * middle);
        shock = speed * middle / (middle - right);
    }
    const double r = x / t;
    if (r <= -cl)
        return (flood_exact){ .h = left };
    if (r < fan_end) {
        const double c = (2 * cl - r) / 3;
        return (flood_exact){ .h = c * c / g, .u = 2 * (cl + r) / 3 };
    }
    return r < shock ? (flood_exact){ .h = middle, .u = speed } : (flood_exact){ .h = right };
}

/* Energy head of the discharge p[1] at the depth h above a bed, less p[2]. */
static double head_condition(double h, const double *p) { return h + p[1] * p[1] / (2 * p[0] * h * h) - p[2]; }

static double depth_of_head(double g, double q, double head, bool subcritical)
{
    const double critical = cbrt(q * q / g), p[3] = { g, q, fmax(head, 1.5 * critical) };
    return subcritical ? root(head_condition, p, critical, p[2]) : root(head_condition, p, 1e-3 * critical, critical);
}

static double momentum(double g, double q, double h) { return q * q / h + 0.5 * g * h * h; }

/* Steady flow over the bump of a flume: subcritical, transcritical, or with a jump back, as the right side decides. */
static flood_exact bump(const flood *s, double x)
{
    const double g = s->k.g, q = s->side[FLOOD_LEFT].discharge, crest = 0.2, critical = cbrt(q * q / g);
    const double z = fmax(0, crest - 0.05 * (x - 10) * (x - 10)), upstream = crest + 1.5 * critical;
    const double end = s->side[FLOOD_RIGHT].level;
    const bool ends = s->side[FLOOD_RIGHT].kind == FLOOD_LEVEL;
    const double downstream = ends ? end + q * q / (2 * g * end * end) : 0;
    double h;
    if (ends && downstream > upstream) {
        h = depth_of_head(g, q, downstream - z, true);
    } else {
        double jump = HUGE_VAL;
        if (ends) { /* where the momentum of both flows is the same */
            double a = 10, b = 12;
            for (int i = 0; i < 100; i++) {
                const double m = 0.5 * (a + b), zm = fmax(0, crest - 0.05 * (m - 10) * (m - 10));
                const double fast = depth_of_head(g, q, upstream - zm, false);
                const double slow = depth_of_head(g, q, downstream - zm, true);
                if (downstream - zm < 1.5 * critical || momentum(g, q, fast) > momentum(g, q, slow))
                    a = m;
                else
                    b = m;
            }
            jump = 0.5 * (a + b);
        }
        h = x > jump ? depth_of_head(g, q, downstream - z, true) : depth_of_head(g, q, upstream - z, x < 10);
    }
    return (flood_exact){ .h = h, .u = q / h };
}

bool flood_has_solution(const bn_case *c, const flood *s)
{
    flood_exact e;
    return flood_solution(c, s, (const double[]){ 0, 0 }, 0, &e);
}

bool flood_solution(const bn_case *c, const flood *s, const double x[2], double t, flood_exact *out)
{
    const double g = s->k.g, dx = x[0] - 0.5 * s->grid.size[0], dy = x[1] - 0.5 * s->grid.size[1],
                 r2 = dx * dx + dy * dy;
    const double a = bn_case_real(c, "bed.radius"), h0 = bn_case_real(c, "bed.depth");
    const double shift = bn_case_real(c, "initial.shift");
    *out = (flood_exact){ 0 };
    if (s->initial.kind == FLOOD_PLANAR && s->k.gn2 == 0) { /* Thacker 1981 */
        const double w = sqrt(2 * g * h0) / a, z = -h0 * (1 - r2 / (a * a));
        const double level = shift * h0 / (a * a) * (2 * dx * cos(w * t) + 2 * dy * sin(w * t) - shift);
        if (level > z)
            *out = (flood_exact){ level - z, -shift * w * sin(w * t), shift * w * cos(w * t) };
        return true;
    }
    if (s->initial.kind == FLOOD_RADIAL && s->k.gn2 == 0) {
        const double w = sqrt(8 * g * h0) / a, b = (a * a - shift * shift) / (a * a + shift * shift);
        const double stretch = sqrt(1 - b * b) / (1 - b * cos(w * t)),
                     rate = 0.5 * w * b * sin(w * t) / (1 - b * cos(w * t));
        const double h = h0 * (stretch - stretch * stretch * r2 / (a * a));
        if (h > 0)
            *out = (flood_exact){ h, rate * dx, rate * dy };
        return true;
    }
    if (s->initial.kind == FLOOD_DAM && s->ground.kind == FLOOD_FLAT && s->k.gn2 == 0) {
        const bool along_x = bn_case_choice(c, "initial.axis") == FLOOD_ALONG_X;
        const double left = bn_case_real_at(c, "initial.levels", 0), right = bn_case_real_at(c, "initial.levels", 1);
        const double at = along_x ? dx : dy;
        const flood_exact e = left >= right ? dam_break(g, left, fmax(right, 0), at, t)
                                            : dam_break(g, right, fmax(left, 0), -at, t);
        const double u = left >= right ? e.u : -e.u;
        *out = (flood_exact){ e.h, along_x ? u : 0, along_x ? 0 : u };
        return true;
    }
    if (s->ground.kind == FLOOD_BUMP && s->side[FLOOD_LEFT].discharge > 0 && s->k.gn2 == 0) {
        *out = bump(s, x[0]);
        return true;
    }
    if (s->ground.kind == FLOOD_MACDONALD) {
        const double r = x[0] / s->grid.size[0] - 0.5, h = cbrt(4 / g) * (1 + 0.5 * exp(-16 * r * r));
        *out = (flood_exact){ .h = h, .u = s->side[FLOOD_LEFT].discharge / h };
        return true;
    }
    return false;
}

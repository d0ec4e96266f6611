/* progress.c: one rewritten line on a terminal, a plain line every two seconds elsewhere, both also within long steps;
 * JSON lines for scripts. */
#include "output/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t bn_profile_rows(bn_sim *sim, bn_profile_row *rows)
{
    if (!bn_domain_device(bn_sim_domain(sim)))
        return 0;
    size_t count = bn_domain_profile(bn_sim_domain(sim), rows, BN_PROFILE_ROWS);
    return count < BN_PROFILE_ROWS ? count : BN_PROFILE_ROWS;
}

double bn_declared_bytes(bn_sim *sim)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    double bytes = 0;
    size_t count = bn_profile_rows(sim, rows);
    for (size_t i = 0; i < count; i++)
        bytes += rows[i].bytes;
    return bytes;
}

void bn_progress_begin(bn_progress *p, bool quiet, bool json, double limit, double steps_end)
{
    *p = (bn_progress){
        .quiet = quiet, .json = json, .terminal = isatty(STDERR_FILENO) == 1, .limit = limit, .steps_end = steps_end
    };
    p->start = p->last = bn_seconds_now();
}

void bn_progress_resume(bn_progress *p, bn_sim *sim) { p->before = bn_sim_now(sim); }

/* "0:42", "1:02:03" */
static void clock_text(double seconds, char *out, size_t room)
{
    if (!(seconds >= 0) || seconds > 1e8) {
        snprintf(out, room, "?");
        return;
    }
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, room, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, room, "%ld:%02ld", s / 60, s % 60);
}

/* Seconds left: by steps or simulated time; by the slope of the residual (`*guess`) when the run waits for that. */
static double seconds_left(bn_progress *p, const bn_sim_state *now, double tolerance, double stop_time, double elapsed,
                           bool *guess)
{
    double left = elapsed * (p->steps_end - (double)now->step) / (double)(now->step - p->before.step);
    *guess = false;
    if (stop_time > 0 && now->time > p->before.time)
        left = fmin(left, elapsed * (stop_time - now->time) / (now->time - p->before.time));
    if (tolerance > 0 && now->residual > 0 && isfinite(now->residual)) {
        const double here = log10(now->residual);
        if (p->trend_time == 0) {
            p->trend_time = elapsed;
            p->trend_log = here;
        }
        const double slope = (here - p->trend_log) / (elapsed - p->trend_time);
        if (elapsed > 2 * p->trend_time + 1) { /* the first part of the slope says little about the end */
            p->trend_time = 0.5 * (p->trend_time + elapsed);
            p->trend_log = 0.5 * (p->trend_log + here);
        }
        *guess = true;
        if (slope < 0)
            left = fmin(left, (log10(tolerance) - here) / slope);
    }
    return left;
}

static void put_line(bn_progress *p, const char *line)
{
    if (p->terminal) {
        const size_t n = strlen(line);
        fprintf(stderr, "\r%s%*s", line, (int)(p->width > n ? p->width - n : 0), "");
        p->width = n;
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
}

void bn_progress_show(bn_progress *p, bn_sim *sim, bool wanted)
{
    const double t = bn_seconds_now(), elapsed = t - p->start, pause = p->json ? 1 : p->terminal ? 0.2 : 2;
    if (!wanted && (p->quiet || t - p->last < pause))
        return;
    p->last = t;
    const bn_sim_state now = bn_sim_now(sim);
    if (now.step == p->before.step || elapsed <= 0)
        return;
    const bn_coordinate along = bn_solver_coordinate(bn_sim_plan(sim)->solver);
    const double tolerance = bn_sim_plan(sim)->tolerance, rate = (double)(now.items - p->before.items) / elapsed;
    const double share = p->limit > 0 ? bn_declared_bytes(sim) / elapsed / p->limit : (double)NAN;
    bool guess;
    const double left = seconds_left(p, &now, tolerance, bn_case_real(bn_sim_case(sim), "stop.time"), elapsed, &guess);
    if (p->json && !wanted) {
        printf("{\"event\":\"progress\",\"step\":%llu,\"%s\":%.9g,\"elapsed\":%.3f,\"cells_per_second\":%.6g", now.step,
               along.name, now.time, elapsed, rate);
        if (isfinite(now.residual))
            printf(",\"residual\":%.9g", now.residual);
        if (isfinite(share))
            printf(",\"share_of_bandwidth_limit\":%.4f", share);
        printf(",\"seconds_left\":%.1f}\n", left >= 0 && isfinite(left) ? left : -1.0);
        fflush(stdout);
        return;
    }
    char line[256], done[32], rest[32], residual[64] = "", limit[48] = "";
    clock_text(elapsed, done, sizeof done);
    clock_text(left, rest, sizeof rest);
    if (isfinite(now.residual))
        snprintf(residual, sizeof residual, "  residual %.2e", now.residual);
    if (isfinite(now.residual) && tolerance > 0)
        snprintf(residual, sizeof residual, "  residual %.2e -> %.0e", now.residual, tolerance);
    if (isfinite(share))
        snprintf(limit, sizeof limit, "  %.0f %% of copy limit", 100 * share);
    snprintf(line, sizeof line, "step %llu  %s %.5g %s%s  %.3g cells/s%s  elapsed %s  left %s%s", now.step,
             along.letter, now.time, along.unit, residual, rate, limit, done, guess ? "~" : "", rest);
    put_line(p, line);
}

void bn_progress_within(bn_progress *p, bn_sim *sim)
{
    const double t = bn_seconds_now(), elapsed = t - p->start;
    const bn_sim_state now = bn_sim_now(sim);
    char line[192], done[32], rest[64] = "";
    bool guess;
    if (p->quiet || p->json || t - p->last < 2)
        return;
    p->last = t;
    clock_text(elapsed, done, sizeof done);
    if (now.step > p->before.step) { /* what the steps before say */
        const double left = seconds_left(p, &now, 0, bn_case_real(bn_sim_case(sim), "stop.time"), elapsed, &guess);
        char text[32];
        clock_text(left, text, sizeof text);
        snprintf(rest, sizeof rest, "  %.3g cells/s  left ~%s", (double)(now.items - p->before.items) / elapsed, text);
    }
    snprintf(line, sizeof line, "step %llu is being computed%s  elapsed %s", now.step + 1, rest, done);
    put_line(p, line);
}

void bn_progress_end(bn_progress *p)
{
    if (p->terminal && p->width > 0)
        fputc('\n', stderr);
    p->width = 0;
}

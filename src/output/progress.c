/* progress.c: one rewritten line on a terminal, a plain line every two seconds elsewhere, JSON lines for scripts. A
 * thread goes on with them within steps that take long, from a copy of the last figures. */
#include "output/progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

size_t bn_profile_rows(bn_sim *sim, bool all, bn_profile_row *rows)
{
    if (!bn_domain_device(bn_sim_domain(sim)))
        return 0;
    size_t count = bn_domain_profile(bn_sim_domain(sim), all, rows, BN_PROFILE_ROWS);
    return count < BN_PROFILE_ROWS ? count : BN_PROFILE_ROWS;
}

double bn_progress_bytes(const bn_progress *p, bn_sim *sim)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    double bytes = 0;
    size_t count = bn_profile_rows(sim, true, rows);
    for (size_t i = 0; i < count; i++)
        bytes += rows[i].bytes;
    return bytes - p->bytes_before;
}

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
        else if (isnan(slope)) /* from one residual nobody knows */
            left = (double)NAN;
    } else if (tolerance > 0) {
        left = (double)NAN;
    }
    return left;
}

double bn_progress_left(bn_progress *p, bn_sim *sim)
{
    const bn_sim_state now = bn_sim_now(sim);
    bool guess;
    if (now.step == p->before.step)
        return (double)NAN;
    const double left = seconds_left(p, &now, bn_sim_plan(sim)->course.tolerance,
                                     bn_case_real(bn_sim_case(sim), "stop.time"), bn_seconds_now() - p->start, &guess);
    return isfinite(left) && left >= 0 ? left : (double)NAN;
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

/* The solver's own figure: how far it has converged, or the first column of its series. */
static void take_own_figure(bn_progress_figures *f, bn_sim *sim)
{
    const bn_plan *plan = bn_sim_plan(sim);
    const bn_step *last = bn_sim_last_step(sim);
    f->own[0] = '\0';
    if (isfinite(f->residual) && plan->course.tolerance > 0)
        snprintf(f->own, sizeof f->own, "  residual %.2e -> %.0e", f->residual, plan->course.tolerance);
    else if (isfinite(f->residual))
        snprintf(f->own, sizeof f->own, "  residual %.2e", f->residual);
    else if (plan->series_count > 0 && isfinite(last->series[0]))
        snprintf(f->own, sizeof f->own, "  %s %.5g%s%s", plan->series[0].name, last->series[0],
                 plan->series[0].unit && plan->series[0].unit[0] ? " " : "",
                 plan->series[0].unit ? plan->series[0].unit : "");
}

static void print_json(const bn_progress *p, const bn_progress_figures *f, double elapsed, bool within)
{
    printf("{\"event\":\"progress\",\"step\":%llu,\"%s\":%.9g,\"elapsed\":%.3f,\"%s_per_second\":%.6g", f->step,
           p->along.name, f->along, elapsed, p->counts, f->rate);
    if (within)
        printf(",\"computing\":%llu", f->step + 1);
    if (isfinite(f->residual))
        printf(",\"residual\":%.9g", f->residual);
    if (isfinite(f->share))
        printf(",\"share_of_bandwidth_limit\":%.4f", f->share);
    const double left = f->left - (elapsed - f->elapsed);
    printf(",\"seconds_left\":%.1f}\n", left >= 0 && isfinite(left) ? left : -1.0);
    fflush(stdout);
}

/* `within`: the next step has been under way for a while. */
static void print_line(bn_progress *p, const bn_progress_figures *f, double elapsed, bool within)
{
    char line[320], done[32], rest[32], next[48] = "", limit[48] = "";
    clock_text(elapsed, done, sizeof done);
    clock_text(f->left - (elapsed - f->elapsed), rest, sizeof rest); /* beyond what was expected: "?" */
    if (within)
        snprintf(next, sizeof next, ", %llu is being computed", f->step + 1);
    if (isfinite(f->share))
        snprintf(limit, sizeof limit, "  %.0f %% of copy limit", 100 * f->share);
    if (f->known)
        snprintf(line, sizeof line, "step %llu%s  %s %.5g %s%s  %.3g %s/s%s  elapsed %s  left %s%s", f->step, next,
                 p->along.letter, f->along, p->along.unit, f->own, f->rate, p->counts, limit, done,
                 f->guess && isfinite(f->left) ? "~" : "", rest);
    else
        snprintf(line, sizeof line, "step %llu is being computed  elapsed %s", f->step + 1, done);
    put_line(p, line);
}

/* Until the end: what the last step left, again, when nothing has been printed for a while. */
static void *watch(void *user)
{
    bn_progress *p = user;
    const double pause = p->terminal || p->json ? 2 : 2.5; /* a step that ends in time comes first */
    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        const double now = bn_seconds_now(), due = p->last + pause - now;
        if (due <= 0) {
            p->last = now;
            if (p->json)
                print_json(p, &p->figures, now - p->start, true);
            else
                print_line(p, &p->figures, now - p->start, true);
            continue;
        }
        struct timespec until; /* of the clock that conditions have; when it is set, a line comes early or late */
        (void)clock_gettime(CLOCK_REALTIME, &until);
        const double at = (double)until.tv_nsec * 1e-9 + due;
        until.tv_sec += (time_t)at;
        until.tv_nsec = (long)((at - floor(at)) * 1e9);
        (void)pthread_cond_timedwait(&p->changed, &p->lock, &until);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void bn_progress_begin(bn_progress *p, bn_sim *sim, bool quiet, bool json, double limit, double steps_end)
{
    sigset_t all, before;
    *p = (bn_progress){ .quiet = quiet,
                        .json = json,
                        .terminal = isatty(STDERR_FILENO) == 1,
                        .limit = limit,
                        .steps_end = steps_end,
                        .along = bn_solver_coordinate(bn_sim_plan(sim)->solver),
                        .counts = bn_solver_counts(bn_sim_plan(sim)->solver),
                        .before = bn_sim_now(sim) };
    p->bytes_before = bn_progress_bytes(p, sim);
    p->start = p->last = bn_seconds_now();
    p->figures = (bn_progress_figures){ .step = p->before.step,
                                        .along = p->before.time,
                                        .residual = (double)NAN,
                                        .share = (double)NAN,
                                        .left = (double)NAN };
    if (quiet || pthread_mutex_init(&p->lock, NULL) != 0)
        return;
    (void)pthread_cond_init(&p->changed, NULL); /* never fails where mutexes do not */
    (void)sigfillset(&all);                     /* signals end waits of the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    p->watched = pthread_create(&p->watcher, NULL, watch, p) == 0; /* without it long steps are silent */
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void bn_progress_show(bn_progress *p, bn_sim *sim, bool wanted)
{
    const double t = bn_seconds_now(), elapsed = t - p->start, pause = p->json ? 1 : p->terminal ? 0.2 : 2;
    const bn_sim_state now = bn_sim_now(sim);
    if (now.step == p->before.step || elapsed <= 0)
        return;
    /* The thread is to know each step that took long, and a run of short ones now and then. */
    if (!wanted && (p->quiet || t - p->figures.elapsed - p->start < fmin(pause, 0.2)))
        return;
    bn_progress_figures f = { .known = true,
                              .step = now.step,
                              .along = now.time,
                              .elapsed = elapsed,
                              .residual = now.residual,
                              .rate = (double)(now.items - p->before.items) / elapsed,
                              .share = p->limit > 0 ? bn_progress_bytes(p, sim) / elapsed / p->limit : (double)NAN };
    f.left = seconds_left(p, &now, bn_sim_plan(sim)->course.tolerance, bn_case_real(bn_sim_case(sim), "stop.time"),
                          elapsed, &f.guess);
    take_own_figure(&f, sim);
    if (p->watched)
        pthread_mutex_lock(&p->lock);
    p->figures = f;
    if (wanted || t - p->last >= pause) {
        p->last = t;
        if (p->json && !wanted)
            print_json(p, &f, elapsed, false);
        else
            print_line(p, &f, elapsed, false);
    }
    if (p->watched)
        pthread_mutex_unlock(&p->lock);
}

void bn_progress_end(bn_progress *p)
{
    if (p->watched) {
        pthread_mutex_lock(&p->lock);
        p->ending = true;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        (void)pthread_join(p->watcher, NULL);
        (void)pthread_cond_destroy(&p->changed);
        (void)pthread_mutex_destroy(&p->lock);
        p->watched = false;
    }
    if (p->terminal && p->width > 0)
        fputc('\n', stderr);
    p->width = 0;
}

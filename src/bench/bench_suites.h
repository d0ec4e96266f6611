/* bench_suites.h: what published studies have in common: their tables inside the program, and rows with their figures
 * beside ours. */
#ifndef BN_BENCH_SUITES_H
#define BN_BENCH_SUITES_H

#include "bench/bench.h"
#include "io/csv_read.h"

typedef struct bn_suite bn_suite;

/* A table or a figure of a paper, with its file names and the axes of its chart. */
typedef struct bn_suite_table {
    const char *id, *title; /* id: of its files */
    bn_status (*run)(const bn_suite *);
    const char *x_label, *y_label; /* NULL: no chart */
    bool log_x, log_y;
    bool matrix;      /* the page has a row for each line of the chart and a column for each x */
    const char *note; /* for the page: what differs from the paper; or NULL */
} bn_suite_table;

/* How long a suite may take: seconds a table, minutes a suite on two CPU cores, or the paper's sizes. */
typedef enum bn_suite_level { BN_SUITE_SMALLEST, BN_SUITE_QUICK, BN_SUITE_WHOLE } bn_suite_level;

struct bn_suite {
    const bn_bench_device *d;
    json_t *rows, *pictures;     /* of the table that is measured */
    json_t *kept;                /* what one table leaves for another */
    const bn_suite_table *table; /* it */
    const char *folder;          /* for its files; NULL: none */
    char *why;                   /* BN_SUITE_WHY bytes: why the last job was not measured; "": it was */
    bool *measured, *failed;     /* the device has given a number; one was expected and there is none */
    bn_suite_level level;
    bool gpu, quick; /* quick: not the whole */
    bool checks;     /* the cases are read and nothing is measured */
};
enum { BN_SUITE_WHY = 160 };

/* A row; NaN: that side has no such figure. `why` of the last job gives the reason for ours. */
BN_CHECKED bn_status bn_suite_add(const bn_suite *, double published, double ours, const char *unit, const char *format,
                                  ...) BN_PRINTF(5, 6);
/* The same as a point of the chart: on the line of that name, which is the row's name, too, and beside it of the
 * published one. */
BN_CHECKED bn_status bn_suite_point(const bn_suite *, const char *line, double x, double published, double ours,
                                    const char *unit);
/* A row that has no figure of ours, and the reason. */
BN_CHECKED bn_status bn_suite_skip(const bn_suite *, double published, const char *unit, const char *why,
                                   const char *format, ...) BN_PRINTF(5, 6);
BN_CHECKED bn_status bn_suite_skip_point(const bn_suite *, const char *line, double x, double published,
                                         const char *unit, const char *why);
/* Why a size is not measured at this level. */
extern const char bn_suite_left_out[];

/* What a run in a process of its own has left. */
typedef struct bn_suite_run {
    json_t *summary; /* summary.json; NULL: it failed, `why` has the reason */
    char folder[BN_BENCH_PATH];
} bn_suite_run;
/* `binnacle run` of a case with settings (NULL ends; "--profile" and "--device=LIST" are options of the command) into
 * runs/NAME of the suite's folder, or of a temporary one. `files`: the path of an embedded case beside which lie the
 * files that it names, such as plans; NULL: it names none. Release the run also after a failure. */
BN_CHECKED bn_status bn_suite_simulate(const bn_suite *, const char *name, const char *files, const char *text,
                                       const char *const *sets, bn_suite_run *out);
void bn_suite_run_release(const bn_suite *, bn_suite_run *);
double bn_suite_result(const bn_suite_run *, const char *name); /* NaN: there is none */
/* A table of numbers that the run has written; free it with bn_csv_table_free. */
BN_CHECKED bn_status bn_suite_run_table(const bn_suite *, const bn_suite_run *, const char *file, bn_csv_table *out);
/* Shows a picture of the run, pictures/NAME*.png, the last one, on the page. */
BN_CHECKED bn_status bn_suite_show(const bn_suite *, const bn_suite_run *, const char *name, const char *caption);
/* The text of an embedded file, such as a case; NULL: there is none. */
const char *bn_suite_file(const char *path);

/* A job's figures, with its kernels if wanted; `seconds` of a step is NaN, with a warning, where it could not be
 * measured. A case that is wrong is a failure. */
BN_CHECKED bn_status bn_suite_measure(const bn_suite *, const bn_bench_job *, bool kernels, bn_bench_result *out);
/* Its seconds of a step alone. */
BN_CHECKED bn_status bn_suite_seconds(const bn_suite *, const bn_bench_job *, double *seconds);
/* The first standard case of a solver. */
bn_bench_case bn_suite_base(const char *solver);

/* A published table: lines of fields with commas between, comments, one line of heads. */
enum { BN_PUBLISHED_FIELDS = 16, BN_PUBLISHED_FIELD = 80 };
typedef struct bn_published {
    const char *at;
    char heads[BN_PUBLISHED_FIELDS][BN_PUBLISHED_FIELD], fields[BN_PUBLISHED_FIELDS][BN_PUBLISHED_FIELD];
} bn_published;
bn_published bn_published_open(const char *name); /* one that is not there is empty */
bool bn_published_next(bn_published *);
const char *bn_published_text(const bn_published *, const char *head); /* "": no such column */
double bn_published_number(const bn_published *, const char *head);    /* NaN: no number */
double bn_published_seconds(const bn_published *, const char *head);   /* "22.52ms", "0.17s", "9.13min" */

/* A published number by the item of its table; NaN: there is none. */
double bn_published_item(const char *name, const char *item);

/* bench_paper.c: the files of one table, and the page of all. *found: it was finished by an earlier command of the same
 * program, device and level, whose rows are added. */
BN_CHECKED bn_status bn_paper_find(const bn_suite *, bool *found);
BN_CHECKED bn_status bn_paper_write(const bn_suite *);
BN_CHECKED bn_status bn_paper_page(const bn_suite *, const char *source, const json_t *tables);

/* bench_suite_flow_cg.c */
BN_CHECKED bn_status bn_suite_flow_cg_single(const bn_suite *);
BN_CHECKED bn_status bn_suite_flow_cg_double(const bn_suite *);

/* bench_suite_xray_rounding.c, bench_suite_xray_speed.c */
BN_CHECKED bn_status bn_suite_xray_figure_5_1(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_5_2(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_5_3(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_5_5(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_5_6(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_6_13(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_6_15(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_6_16(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray_figure_6_21(const bn_suite *);

/* bench_suite_*.c: end with one without id. */
extern const bn_suite_table bn_suite_bpm[], bn_suite_flood[], bn_suite_flow[], bn_suite_maxwell[], bn_suite_xray[];

#endif

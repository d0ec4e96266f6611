/* flood_history.c: how discharges, levels and sources change with time. */
#include "flood_plans.h"

#include <math.h>

/* [[history]]: rows of the list that tell how a source or a side changes, in the order of their times. */
void flood_check_histories(const bn_case *c, const flood *s)
{
    for (size_t i = 0; i < bn_case_items(c, "history"); i++) {
        const int of = bn_case_item_choice(c, "history.of", i);
        const long long number = bn_case_item_int(c, "history.source", i);
        if (of == HISTORY_SOURCE && number > (long long)bn_case_items(c, "source"))
            (void)bn_case_reject_item(c, "history.source", i, NULL, "there are only %zu sources",
                                      bn_case_items(c, "source"));
        if (of < HISTORY_SOURCE && s->side[of].kind != FLOOD_INFLOW && s->side[of].kind != FLOOD_LEVEL)
            (void)bn_case_reject_item(c, "history.of", i, NULL, "this side has neither a discharge nor a level");
        if (of == HISTORY_RAIN && bn_case_item_real(c, "history.value", i) < 0)
            (void)bn_case_reject_item(c, "history.value", i, NULL, "rain does not fall upwards");
        for (size_t k = 0; k < i; k++)
            if (bn_case_item_choice(c, "history.of", k) == of && bn_case_item_int(c, "history.source", k) == number &&
                bn_case_item_real(c, "history.time", k) >= bn_case_item_real(c, "history.time", i)) {
                (void)bn_case_reject_item(c, "history.time", i, NULL, "times must grow from one row to the next");
                break;
            }
    }
}

/* Integral of the polygon through the rows of a history from 0 to t; constant before the first and after the last row.
 * False: there are none. */
static bool history_integral(const bn_case *c, int of, long long source, double t, double *sum)
{
    double time = 0, value = 0;
    bool any = false;
    *sum = 0;
    for (size_t i = 0; i < bn_case_items(c, "history"); i++) {
        if (bn_case_item_choice(c, "history.of", i) != of || bn_case_item_int(c, "history.source", i) != source)
            continue;
        const double next = bn_case_item_real(c, "history.time", i), rises = bn_case_item_real(c, "history.value", i);
        if (!any)
            value = rises;
        any = true;
        const double end = fmin(next, t), share = next > time ? (end - time) / (next - time) : 0;
        if (end > time)
            *sum += (end - time) * (value + 0.5 * share * (rises - value));
        time = next;
        value = rises;
        if (t <= next)
            return true;
    }
    *sum += (t - time) * value;
    return any;
}

double flood_mean(const bn_case *c, int of, long long source, double begin, double end, double constant)
{
    double before, after;
    if (!history_integral(c, of, source, begin, &before) || !history_integral(c, of, source, end, &after))
        return constant;
    return (after - before) / (end - begin);
}

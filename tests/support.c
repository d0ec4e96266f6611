/* support.c: the frame of every test program (tests/support.h). */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

/* Seconds that one test may take: BN_TEST_TIMEOUT, or 60 when it is not set or not a positive number. */
static double test_timeout(void)
{
    const char *text = getenv("BN_TEST_TIMEOUT");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 0;
    return text && end != text && *end == '\0' && seconds > 0 ? seconds : 60;
}

static bn_test *tests; /* in the order of their lines, not of what runs before main() */

void bn_test_add(bn_test *test)
{
    bn_test **at = &tests;
    while (*at && (*at)->test.line < test->test.line)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

/* Check's own default applies: a process for each test, unless the environment says CK_FORK=no, for debuggers. */
int bn_test_main(const char *name, void (*set_up)(void), void (*tear_down)(void))
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, test_timeout());
    tcase_add_checked_fixture(cases, set_up, tear_down);
    for (const bn_test *t = tests; t; t = t->next)
        tcase_add_loop_test(cases, &t->test, 0, t->times());
    suite_add_tcase(suite, cases);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int passed = srunner_ntests_run(runner) - failed;
    srunner_free(runner);
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#undef _mark_point
void bn_test_mark(const char *file, int line)
{
    static const char *last;
    static int at;
    if (line != at || file != last)
        _mark_point(file, line);
    last = file;
    at = line;
}

bool long_tests(void)
{
    const char *text = getenv("BN_TEST_LONG");
    return text && text[0] == '1';
}

void without_optimiser(bool off)
{
    const char *plain = getenv("BN_TEST_PLAIN");
    ck_assert_int_eq(setenv("POCL_EXTRA_BUILD_FLAGS", off && plain && !long_tests() ? plain : "", 1), 0);
}

/* test_conformance.c: the suite for all solvers that have no program of their own. */
#include "conformance/conformance.h"

#include <stddef.h>

int main(void) { return conformance_main(NULL); }

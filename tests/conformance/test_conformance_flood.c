/* test_conformance_flood.c: the suite for flood alone. */
#include "conformance/conformance.h"

int main(void) { return conformance_main("flood"); }

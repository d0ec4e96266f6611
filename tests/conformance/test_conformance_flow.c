/* test_conformance_flow.c: the suite for flow alone. */
#include "conformance/conformance.h"

int main(void) { return conformance_main("flow"); }

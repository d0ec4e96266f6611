/* test_conformance_maxwell.c: the suite for maxwell alone. */
#include "conformance/conformance.h"

int main(void) { return conformance_main("maxwell"); }

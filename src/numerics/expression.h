/* expression.h: numbers that a case gives as an expression of the place. */
#ifndef BN_EXPRESSION_H
#define BN_EXPRESSION_H

/* The value of a text at a place: x, y, z, pi, numbers, + - * / ^, brackets, and sin cos exp log sqrt abs step (0 below
 * 0, else 1). Returns NULL, or where the text cannot be read. */
const char *bn_expression(const char *text, const double place[3], double *value);

#endif

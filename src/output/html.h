/* html.h: pages of reports: one file without network, readable without its script, which only adds values under the
 * pointer. */
#ifndef BN_HTML_H
#define BN_HTML_H

#include "case/string_buffer.h"
#include "plot/picture.h"

/* Head, style and first heading; the end with the script. Texts from outside go through bn_html_text alone. */
void bn_html_begin(bn_string *, const char *title);
void bn_html_end(bn_string *);

/* Text with its signs escaped; what is no UTF-8 appears as "?". */
void bn_html_text(bn_string *, const char *);
/* Markup, printf-like: "%s" takes such a text (NULL: none), "%zu" a number. */
void bn_html_add(bn_string *, const char *format, ...) BN_PRINTF(2, 3);
/* A section's heading. */
void bn_html_heading(bn_string *, const char *);
/* A table's begin with its heads, separated by "|"; end it with "</table>". */
void bn_html_table(bn_string *, const char *caption, const char *heads);
/* Six digits to read, all of them in the attribute `value`; NaN: "none". */
void bn_html_number(bn_string *, double);
/* The name of a file relative to the page, as an address; and a link to it that reads so. */
void bn_html_address(bn_string *, const char *path);
void bn_html_link(bn_string *, const char *path);

/* A chart drawn as SVG; of lines with many points the lowest and the highest of each piece. Nothing without two points
 * in a line. */
void bn_html_chart(bn_string *, const bn_chart *);

#endif

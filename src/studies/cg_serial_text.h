/* cg_serial_text.h: the functions of cg_serial.c, which includes this text once for each precision: REAL is the type,
 * NAME(name) gives names. */
/* Eight sums side by side, which a compiler turns into vectors without reordering anything. */
static REAL NAME(dot)(size_t count, const REAL *restrict a, const REAL *restrict b)
{
    enum { LANES = 8 };
    REAL lanes[LANES] = { 0 }, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += a[i + l] * b[i + l];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (size_t l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

/* y = A x by the rows that have all neighbours; entries to the border and rows of the border are zero. */
static void NAME(multiply)(size_t n, const REAL *restrict A, const REAL *restrict x, REAL *restrict y)
{
    const size_t N = n * n;
    const REAL *restrict d = A, *restrict w = A + N, *restrict e = A + 2 * N, *restrict s = A + 3 * N,
                         *restrict t = A + 4 * N;
    for (size_t i = n; i < N - n; i++)
        y[i] = d[i] * x[i] + w[i] * x[i - 1] + e[i] * x[i + 1] + s[i] * x[i - n] + t[i] * x[i + n];
}

static void NAME(fill)(size_t n, REAL mass, REAL k, REAL *A)
{
    const size_t N = n * n;
    for (size_t j = 1; j + 1 < n; j++)
        for (size_t i = 1; i + 1 < n; i++) {
            const size_t at = j * n + i;
            A[at] = mass + 4 * k;
            A[N + at] = i > 1 ? -k : 0;
            A[2 * N + at] = i + 2 < n ? -k : 0;
            A[3 * N + at] = j > 1 ? -k : 0;
            A[4 * N + at] = j + 2 < n ? -k : 0;
        }
}

long NAME(cg_serial)(size_t n, double mass, double k, const double *b, double tolerance, long most, double *result)
{
    const size_t N = n * n;
    REAL *const memory = calloc(9 * N, sizeof(REAL));
    if (!memory)
        return -1;
    REAL *A = memory, *x = A + 5 * N, *r = x + N, *p = r + N, *q = p + N;
    NAME(fill)(n, (REAL)mass, (REAL)k, A);
    for (size_t i = 0; i < N; i++)
        r[i] = p[i] = (REAL)b[i];
    const REAL goal = (REAL)tolerance * (REAL)tolerance * NAME(dot)(N, r, r);
    REAL rr = NAME(dot)(N, r, r);
    long done = 0;
    for (; done < most && rr > goal; done++) {
        NAME(multiply)(n, A, p, q);
        const REAL alpha = rr / NAME(dot)(N, p, q), before = rr;
        for (size_t i = 0; i < N; i++)
            x[i] += alpha * p[i];
        for (size_t i = 0; i < N; i++)
            r[i] -= alpha * q[i];
        rr = NAME(dot)(N, r, r);
        const REAL beta = rr / before;
        for (size_t i = 0; i < N; i++)
            p[i] = r[i] + beta * p[i];
    }
    for (size_t i = 0; i < N; i++)
        result[i] = x[i];
    free(memory);
    return done;
}

/* meet.h: launches whose work-groups wait for each other, as many as run side by side (BN_SIDE_BY_SIDE). */
#define FOR_GROUPS(task, count) for (int task = (int)get_group_id(0); task < (count); task += (int)get_num_groups(0))

/* What a work-group wrote before a meeting all see after it. That `mem_fence` reaches beyond the work-group nobody
 * promises, and first-level caches need not be coherent: membar.gl of NVIDIA's machine language sees to both. */
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Polls after which a work-group gives up: a second or more. */
#define PATIENCE (1 << 22)
#define ARRIVALS 0
#define MEETINGS 1
#define FAILED 2

/* All work-groups of a launch wait for each other. meeting: integers, zero at first, whose place FAILED is 1 once one
 * has waited in vain. */
ALWAYS_INLINED void meet(volatile global int *meeting)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0 && get_num_groups(0) > 1) {
        const int before = meeting[MEETINGS];
        FENCE;
        if (atomic_inc(meeting + ARRIVALS) == (int)get_num_groups(0) - 1) {
            atomic_xchg(meeting + ARRIVALS, 0);
            FENCE;
            atomic_inc(meeting + MEETINGS);
        } else {
            int polls = meeting[FAILED] ? PATIENCE : 0;
            while (meeting[MEETINGS] == before && polls < PATIENCE)
                polls++;
            if (polls == PATIENCE)
                atomic_xchg(meeting + FAILED, 1);
        }
        FENCE;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* meet.h: launches whose work-groups wait for each other, as many as run side by side (BN_SIDE_BY_SIDE). */
#define FOR_GROUPS(task, count) for (int task = (int)get_group_id(0); task < (count); task += (int)get_num_groups(0))

/* What a work-group wrote before a meeting all see after it. That `mem_fence` reaches beyond the work-group nobody
 * promises, and first-level caches need not be coherent: membar.gl of NVIDIA's machine language sees to both. */
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Polls after which a work-group gives up: a second or more; it looks every so often whether another one has. */
#define PATIENCE (1 << 22)
#define LOOKS (1 << 6)
/* Places in `meeting`, each in a line of the cache of its own: those who wait read no line that others arrive at.
 * Arrivals are counted in two places by turns: each is emptied while none can arrive there. */
#define ARRIVALS(meetings) (((meetings) & 1) * 32)
#define MEETINGS 64
#define FAILED 96

/* A work-group has done what others wait for. meeting: 128 integers, zero at first (bn_device_array_meeting), of which
 * FAILED is 1 once one has waited in vain. met: what MEETINGS was when the launch began, counted on by wait_for_all.
 * Returns, to one work-item, whether it is the last. */
ALWAYS_INLINED int arrive(volatile global int *meeting, int met)
{
    int last = 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0 && get_num_groups(0) > 1) {
        FENCE;
        last = atomic_inc(meeting + ARRIVALS(met)) == (int)get_num_groups(0) - 1;
        if (last) {
            FENCE;
            meeting[MEETINGS] = met + 1;
            meeting[ARRIVALS(met)] = 0;
        }
    }
    return last;
}

/* Until all work-groups of the launch have arrived. */
ALWAYS_INLINED void wait_for_all(volatile global int *meeting, int *met, int last)
{
    if (get_local_id(0) == 0 && get_num_groups(0) > 1) {
        int polls = last ? PATIENCE + 1 : 0;
        while (polls < PATIENCE && meeting[MEETINGS] == *met)
            polls = ++polls % LOOKS == 0 && meeting[FAILED] ? PATIENCE : polls;
        if (polls == PATIENCE)
            atomic_xchg(meeting + FAILED, 1);
        FENCE;
    }
    *met += 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

ALWAYS_INLINED void meet(volatile global int *meeting, int *met)
{
    const int last = arrive(meeting, *met);
    wait_for_all(meeting, met, last);
}

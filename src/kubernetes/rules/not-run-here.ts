// Names the condition of a workload for whose images there is no program on this machine (`skep dev`).

/** Type and reason of the condition, and reason of the Event. The workload counts as ready and has no pods. */
export const NOT_RUN_HERE = 'NotRunHere';

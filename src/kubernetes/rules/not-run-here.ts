// Names the condition of workloads that `skep dev` does not run, because this machine has no program for their images.

/** Type and reason of the condition, and reason of the Event. The workload is reported as ready and has no pods. */
export const NOT_RUN_HERE = 'NotRunHere';

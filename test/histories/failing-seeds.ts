// Seeds of histories that something once went wrong in.

export const FAILING_SEEDS: readonly number[] = [1_019, 471_362_907, 492_489_499, 55_830_723, 696_961_904];

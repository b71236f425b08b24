// Seeds of histories that something once went wrong in. Knows nothing about what they are.

export const FAILING_SEEDS: readonly number[] = [];

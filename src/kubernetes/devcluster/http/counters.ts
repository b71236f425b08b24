// Counts requests by verb and resource, so that tests can check that a run sent no writes and one list per kind.

export interface Counters {
  /** Requests by verb, then by `plural` or `plural.group`. Every page of a list counts as a request. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Lists by resource. Only the first page counts. */
  readonly lists: Readonly<Record<string, number>>;
  /** Writes by resource (create, update, patch, apply, delete, deletecollection), without dry runs. */
  readonly writes: Readonly<Record<string, number>>;
  /** Writes with `dryRun=All`, by resource. */
  readonly dryRuns: Readonly<Record<string, number>>;
  /** Number of requests for resources. `others` counts other requests, such as discovery, schemas and health. */
  readonly total: number;
  readonly others: number;
}

interface CountedRequest {
  readonly verb: string;
  readonly resource: string;
  readonly dryRun: boolean;
  /** True for pages after the first. */
  readonly furtherPage: boolean;
}

export interface CounterStore {
  count(request: CountedRequest): void;
  countOther(): void;
  read(): Counters;
  reset(): void;
}

const READS = ['get', 'list', 'watch'];

export function openCounters(): CounterStore {
  const requests = new Map<string, Map<string, number>>();
  const lists = new Map<string, number>();
  const writes = new Map<string, number>();
  const dryRuns = new Map<string, number>();
  const totals = { total: 0, others: 0 };
  return {
    count: ({ verb, resource, dryRun, furtherPage }) => {
      totals.total += 1;
      const ofVerb = requests.get(verb) ?? new Map<string, number>();
      requests.set(verb, ofVerb);
      increase(ofVerb, resource);
      if (verb === 'list' && !furtherPage) increase(lists, resource);
      if (!READS.includes(verb)) increase(dryRun ? dryRuns : writes, resource);
    },
    countOther: () => {
      totals.others += 1;
    },
    read: () => ({
      requests: Object.fromEntries([...requests].map(([verb, counts]) => [verb, Object.fromEntries(counts)])),
      lists: Object.fromEntries(lists),
      writes: Object.fromEntries(writes),
      dryRuns: Object.fromEntries(dryRuns),
      ...totals,
    }),
    reset: () => {
      for (const counts of [requests, lists, writes, dryRuns]) counts.clear();
      totals.total = 0;
      totals.others = 0;
    },
  };
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

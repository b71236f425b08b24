// Whether memory stayed flat and nothing was left open: over the samples of one process, and what it held when it was asked.
// Pure.

import { median } from '../bench/measure.ts';

export interface Sample {
  readonly residentMiB: number;
  /** What is counted, by sort: open descriptors, threads. */
  readonly counts: Readonly<Record<string, number>>;
}

/** At the beginning of the middle third, of the last third, and at the end. */
export interface Held {
  readonly heapMiB: number;
  readonly externalMiB: number;
  readonly resources: Readonly<Record<string, number>>;
}

export interface Watched {
  readonly name: string;
  /** Whether the bounds are for it, or it is only shown. */
  readonly bound: boolean;
  readonly samples: readonly Sample[];
  readonly held: readonly Held[];
}

/** How one figure went: of the middle third, and of the last. */
export interface Course {
  readonly process: string;
  readonly what: string;
  readonly middle: number;
  readonly last: number;
  /** Why this is too much; absent where it is not. */
  readonly broken?: string;
}

/** The last third within 10 % of the middle third. */
const GROWTH_MAX = 1.1;
/** Connections come and go; what leaks is not closed, so the least that is open rises. */
const MORE_OPEN_MAX = 2;
/** Of what is under way at one moment; a leak of one in each run, or request, is far beyond. */
const MORE_RESOURCES_MAX = 20;

export function courses(watched: Watched): readonly Course[] {
  const all = [residentCourse(watched), ...heldCourses(watched), ...countCourses(watched)];
  return watched.bound ? all : all.map(({ broken: _unbound, ...course }) => course);
}

/** The samples of each third; of those that are over, the later ones are in the last. */
export function thirds<T>(samples: readonly T[]): readonly [readonly T[], readonly T[], readonly T[]] {
  const size = Math.floor(samples.length / 3);
  return [samples.slice(0, size), samples.slice(size, 2 * size), samples.slice(2 * size)];
}

function residentCourse({ name, samples }: Watched): Course {
  const [, middle, last] = thirds(samples).map((third) => median(third.map(({ residentMiB }) => residentMiB)));
  return memoryCourse(name, 'resident memory, median (MiB)', middle ?? Number.NaN, last ?? Number.NaN);
}

function heldCourses({ name, held }: Watched): readonly Course[] {
  const [before, after] = held.slice(-2);
  if (before === undefined || after === undefined) return [];
  const sorts = [...new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])].sort();
  return [
    memoryCourse(name, 'heap after collection (MiB)', before.heapMiB, after.heapMiB),
    { process: name, what: 'outside of the heap (MiB)', middle: before.externalMiB, last: after.externalMiB },
    ...sorts.map((sort) =>
      countCourse(
        name,
        `active ${sort}`,
        [before, after].map(({ resources }) => resources[sort] ?? 0),
        MORE_RESOURCES_MAX,
      ),
    ),
  ];
}

/** NaN, where nothing was measured, is too much, too. */
function memoryCourse(process: string, what: string, middle: number, last: number): Course {
  const course = { process, what, middle, last };
  if (last / middle <= GROWTH_MAX) return course;
  return { ...course, broken: `${process}: ${what} grew by the factor ${(last / middle).toFixed(2)}` };
}

function countCourses({ name, samples }: Watched): readonly Course[] {
  const sorts = [...new Set(samples.flatMap(({ counts }) => Object.keys(counts)))].sort();
  const [, middle, last] = thirds(samples);
  return sorts.map((sort) => {
    const least = [middle, last].map((third) => Math.min(...third.map(({ counts }) => counts[sort] ?? 0)));
    return countCourse(name, `${sort}, least`, least, MORE_OPEN_MAX);
  });
}

function countCourse(process: string, what: string, counts: readonly number[], moreMax: number): Course {
  const [middle = Number.NaN, last = Number.NaN] = counts;
  const course = { process, what, middle, last };
  if (last - middle <= moreMax) return course;
  return { ...course, broken: `${process}: ${what}: ${last - middle} more in the last third than in the middle one` };
}

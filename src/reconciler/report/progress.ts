// How far a long run is: how many changes of how many are made, and how long the rest may take.

const EVERY_MS = 5000;

/**
 * `monotonic`: milliseconds. Gives a line now and then, at most every five seconds; the first ones are too early to say. Counted
 * from the first change: how long Git and registries took before says nothing about the rest.
 */
export function createProgress(monotonic: () => number): (planned: number) => string | undefined {
  let startedAt: number | undefined;
  let reportedAt = 0;
  let done = 0;
  return (planned) => {
    const now = monotonic();
    done += 1;
    if (startedAt === undefined) {
      startedAt = now;
      reportedAt = now;
    }
    if (now - reportedAt < EVERY_MS || done >= planned) return undefined;
    reportedAt = now;
    const seconds = Math.ceil(((now - startedAt) / (done - 1)) * (planned - done) * 0.001);
    return `${done} of ${planned} changes, about ${seconds} s left`;
  };
}

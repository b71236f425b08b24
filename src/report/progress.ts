// How far a long run is: how many changes of how many are made, and how long the rest may take. Knows nothing about who is told.

const EVERY_MS = 5000;

/** `monotonic`: milliseconds. Gives a line now and then, at most every five seconds; the first ones are too early to say. */
export function createProgress(monotonic: () => number): (planned: number) => string | undefined {
  const startedAt = monotonic();
  let reportedAt = startedAt;
  let done = 0;
  return (planned) => {
    done += 1;
    const now = monotonic();
    if (now - reportedAt < EVERY_MS || done >= planned) return undefined;
    reportedAt = now;
    const seconds = Math.ceil(((now - startedAt) / done) * (planned - done) * 0.001);
    return `${done} of ${planned} changes, about ${seconds} s left`;
  };
}

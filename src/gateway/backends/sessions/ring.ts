// Stores the last events of one stream, numbered from 0. A client that reconnects gets all events after the last event
// that it received.

export interface RingBounds {
  readonly ringEvents: number;
  readonly ringBytes: number;
}

export interface Ring {
  next(): number;
  /** Returns the number of the oldest stored event, or `next()` if no event is stored. */
  first(): number;
  bytes(): number;
  push(event: Buffer): void;
  at(number: number): Buffer | undefined;
  /** Deletes the oldest events until the bounds hold, but no event from number `until` on. */
  trim(until: number): void;
}

export function createRing({ ringEvents, ringBytes }: RingBounds): Ring {
  let events: (Buffer | undefined)[] = [];
  /** Index in `events` of the oldest stored event. */
  let head = 0;
  let first = 0;
  let bytes = 0;

  function dropOldest(): void {
    bytes -= events[head]?.length ?? 0;
    events[head] = undefined;
    head += 1;
    first += 1;
  }

  return {
    next: () => first + events.length - head,
    first: () => first,
    bytes: () => bytes,
    push(event) {
      events.push(event);
      bytes += event.length;
    },
    at: (number) => (number < first ? undefined : events[head + number - first]),
    trim(until) {
      while (first < until && head < events.length && (bytes > ringBytes || events.length - head > ringEvents)) {
        dropOldest();
      }
      // Deleted entries are removed when they are more than half of the array. Each entry is thereby moved once on
      // average.
      if (head > 32 && head * 2 > events.length) {
        events = events.slice(head);
        head = 0;
      }
    },
  };
}

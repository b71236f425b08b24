// Stores the last events of one stream, numbered from 0, so that a client can request all events after its last event.

export interface RingBounds {
  readonly ringEvents: number;
  readonly ringBytes: number;
}

export interface Ring {
  /** Returns the number of the next event. */
  next(): number;
  /** Returns the number of the oldest stored event; equal to `next()` if no event is stored. */
  first(): number;
  bytes(): number;
  push(event: Buffer): void;
  at(number: number): Buffer | undefined;
  /** Deletes the oldest events until the bounds are kept, but only events before `until`. */
  trim(until: number): void;
}

export function createRing({ ringEvents, ringBytes }: RingBounds): Ring {
  let events: (Buffer | undefined)[] = [];
  /** Entries of `events` before this index are deleted. */
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
      // Deleted entries are cut off once they are more than half, so each entry is moved once on average.
      if (head > 32 && head * 2 > events.length) {
        events = events.slice(head);
        head = 0;
      }
    },
  };
}

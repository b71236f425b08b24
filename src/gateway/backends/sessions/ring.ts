// The last events of one stream, numbered from 0, so that a client can ask for those after one that it has.

export interface RingBounds {
  readonly ringEvents: number;
  readonly ringBytes: number;
}

export interface Ring {
  /** The number of the next event. */
  next(): number;
  /** The number of the oldest that is kept; `next` where none is. */
  first(): number;
  bytes(): number;
  push(event: Buffer): void;
  at(number: number): Buffer | undefined;
  /** Lets the oldest go, those before `until` only, while there are more than the bounds allow. */
  trim(until: number): void;
}

export function createRing({ ringEvents, ringBytes }: RingBounds): Ring {
  let events: (Buffer | undefined)[] = [];
  /** Entries of `events` before it have gone. */
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
      // Cut off once it is the larger half: no entry is moved more than once, on the average.
      if (head > 32 && head * 2 > events.length) {
        events = events.slice(head);
        head = 0;
      }
    },
  };
}

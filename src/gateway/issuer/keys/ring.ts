// Manages several keys or secrets. One item is used for new texts, and all items are accepted. Changed files are read
// again.

import { Failure } from '#std/failure.ts';
import type { IssuerCode } from '../codes.ts';
import type { IssuerPorts } from '../ports.ts';

/**
 * Time before a new first key is used, if an older key exists. A mounted Secret reaches all pods within about a minute,
 * so all pods accept the key before any pod uses it.
 */
const SETTLE_MS = 120_000;

export interface RingItem {
  /** Id of the key. Different keys have different ids. */
  readonly id: string;
}

export interface Ring<T extends RingItem> {
  readonly active: T;
  /** All items in the order of the files. The same list object until the items change. */
  readonly accepted: readonly T[];
}

export interface RingSource<T extends RingItem> {
  readonly paths: readonly string[];
  /** Parses an item. Throws a Failure if the text is not valid. */
  readonly parse: (text: string, path: string) => T;
  /** Creates an item if no files are configured. */
  readonly invent: () => T;
  /** Code of the notice about files that have become unusable. */
  readonly code: IssuerCode;
}

type RingPorts = Pick<IssuerPorts, 'files' | 'clock' | 'notify'>;

/**
 * Creates the ring. Throws a Failure if the files are unusable at the start. If the files become unusable later, the
 * last valid items stay.
 */
export function createRing<T extends RingItem>(ports: RingPorts, source: RingSource<T>): () => Ring<T> {
  const { paths } = source;
  if (paths.length === 0) {
    const only = source.invent();
    const ring = { active: only, accepted: [only] };
    return () => ring;
  }
  let texts = paths.map((path) => ports.files.read(path));
  let accepted: readonly T[] = parseAll(source, texts);
  const seenAt = new Map(accepted.map(({ id }) => [id, Number.NEGATIVE_INFINITY]));
  let reported = '';

  function look(): void {
    const now = paths.map((path) => ports.files.read(path));
    if (now.every((text, index) => text === texts[index])) return;
    texts = now;
    accepted = parseAll(source, now);
    for (const { id } of accepted) if (!seenAt.has(id)) seenAt.set(id, ports.clock.monotonic());
    reported = '';
  }

  function report(error: unknown): void {
    if (!(error instanceof Failure)) throw error;
    if (error.message === reported) return;
    reported = error.message;
    const message = `${error.message}; the earlier ones stay in use`;
    ports.notify({ code: source.code, level: 'warn', message, data: { cause: error.code } });
  }

  return function currentRing() {
    try {
      look();
    } catch (error) {
      report(error);
    }
    const settled = ports.clock.monotonic() - SETTLE_MS;
    const active = accepted.find(({ id }) => (seenAt.get(id) ?? 0) <= settled) ?? accepted[0];
    if (active === undefined)
      throw new Failure(source.code, 'the files contain no key or secret', { data: { paths: [...paths] } });
    return { active, accepted };
  };
}

function parseAll<T extends RingItem>(source: RingSource<T>, texts: readonly string[]): readonly T[] {
  const items = texts.map((text, index) => source.parse(text, source.paths[index] ?? ''));
  return items.filter(({ id }, index) => items.findIndex((each) => each.id === id) === index);
}

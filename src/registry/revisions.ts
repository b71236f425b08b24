// The revision of a source for every request, in as few questions to the store as that takes: requests that arrive while
// one is asked share the next. No request gets a revision that was asked for before it arrived.

import type { CatalogueReader, SourceKey } from '../catalogue/ports.ts';

interface Asking {
  readonly now: Promise<string>;
  /** For those who came after `now` was sent. */
  next?: Promise<string>;
}

/** Fails as the store does; the next request asks again. */
export function sharedRevisions(catalogue: Pick<CatalogueReader, 'revision'>): CatalogueReader['revision'] {
  const asking = new Map<string, Asking>();

  function begin(id: string, key: SourceKey): Promise<string> {
    const own: Asking = { now: catalogue.revision(key) };
    asking.set(id, own);
    function end(): void {
      if (own.next === undefined) asking.delete(id);
    }
    own.now.then(end, end);
    return own.now;
  }

  return (key) => {
    const id = JSON.stringify([key.namespace, key.registry, key.source]);
    const running = asking.get(id);
    if (running === undefined) return begin(id, key);
    const then = () => begin(id, key);
    running.next ??= running.now.then(then, then);
    return running.next;
  };
}

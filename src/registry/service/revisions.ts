// Reads the revision of a source for every request with as few queries as possible: requests that arrive in the same
// turn of the event loop, or while a query runs, share the next query. No request gets a revision that was queried
// before it arrived.

import type { CatalogueReader } from '../catalogue/ports.ts';

type Ask = () => Promise<string>;

/** Returns a shared reader of revisions. It fails if the store fails; the next request tries again. */
export function sharedRevisions(catalogue: Pick<CatalogueReader, 'revision'>): CatalogueReader['revision'] {
  const sources = new Map<string, Ask>();

  return (key) => {
    const id = JSON.stringify([key.namespace, key.registry, key.source]);
    const known = sources.get(id);
    if (known !== undefined) return known();
    const ask = oneAtATime(() => catalogue.revision(key));
    sources.set(id, ask);
    return ask();
  };
}

function oneAtATime(ask: Ask): Ask {
  let sent: Promise<unknown> | undefined;
  /** The next query, which has not been sent. */
  let next: Promise<string> | undefined;

  function send(): Promise<string> {
    next = undefined;
    const answer = ask();
    const settled = Promise.allSettled([answer]).then(() => {
      if (sent === settled) sent = undefined;
    });
    sent = settled;
    return answer;
  }

  return () => {
    next ??= (sent ?? endOfTurn()).then(send);
    return next;
  };
}

/** Resolves when all requests that have arrived so far have been read. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

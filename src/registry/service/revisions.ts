// Reads the revision of a source with few queries. Requests of one turn of the event loop, or during a running query,
// share the next query. No request gets a revision that was queried before its arrival.

import type { CatalogueReader } from '../catalogue/ports.ts';

type Ask = () => Promise<string>;

/** Returns a shared reader of revisions. If a query fails, all requests that share it fail. */
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
  /** The next query, not sent yet. */
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

/** Resolves when all received requests are read. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

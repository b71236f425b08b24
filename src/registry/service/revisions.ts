// The revision of a source for every request, in as few questions to the store as that takes: requests that arrive in the
// same turn of the event loop, or while one is asked, share the next. No request gets a revision that was asked for before
// it arrived.

import type { CatalogueReader } from '../catalogue/ports.ts';

type Ask = () => Promise<string>;

/** Fails as the store does; the next request asks again. */
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
  /** That has not been sent. */
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

/** When all requests that have arrived by now have been read. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

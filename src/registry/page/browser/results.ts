// Shows the servers of a search, page after page as the reader scrolls, or a notice if no server matches. A new search
// drops the results of the previous search.

import { button, element } from '#std/page/shared/elements.ts';
import { fragmentOf, isEmpty, LATEST, NO_QUERY, type Query, queryParameters } from './address.ts';
import type { Api, Trouble } from './api.ts';
import { card } from './card.ts';
import { createChunks } from './chunks.ts';
import { readEntry } from './entry.ts';
import { items, members, text } from './json.ts';
import { emptyNotice, troubleNotice } from './notice.ts';
import type { RunningServers } from './running/servers.ts';

export interface ResultsDeps {
  readonly api: Api;
  readonly registry: string;
  readonly running: RunningServers;
  readonly tagChosen: (tag: string) => void;
  readonly cleared: () => void;
  /** Called when the reader repeats a failed request. */
  readonly retried: () => void;
  /** Handles a required token, which the results cannot handle. */
  readonly refused: (trouble: Trouble) => void;
}

export interface Results {
  readonly nodes: readonly HTMLElement[];
  /** Searches, unless the results of this query are already shown. */
  show(query: Query): void;
  /** Returns the link to a listed server. */
  linkTo(server: string): HTMLElement | undefined;
  stop(): void;
}

const PAGE_SIZE = 30;
/** Distance from the end of the list at which the next page is requested. */
const AHEAD = '800px 0px';

export function createResults(deps: ResultsDeps): Results {
  const { api, registry, cleared, refused } = deps;
  const results = createChunks({ class: 'cards', 'aria-label': 'Servers found' });
  const below = element('div', { class: 'below' });
  let query = NO_QUERY;
  let shown: string | undefined;
  let next: string | undefined;
  let asking = new AbortController();
  const end = new IntersectionObserver(
    (places) => {
      const isNear = places.some(({ isIntersecting }) => isIntersecting);
      if (isNear && next !== undefined && below.isConnected) void load(next);
    },
    { rootMargin: AHEAD },
  );

  async function load(cursor: string | undefined): Promise<void> {
    asking.abort();
    asking = new AbortController();
    next = undefined;
    end.disconnect();
    const { signal } = asking;
    results.node.setAttribute('aria-busy', 'true');
    const answer = await api.get(listPath(registry, query, cursor), signal);
    if (signal.aborted) return;
    results.node.removeAttribute('aria-busy');
    if (answer.ok) take(answer.body, cursor !== undefined);
    else fail(answer.trouble, cursor);
  }

  function fail(trouble: Trouble, cursor: string | undefined): void {
    shown = undefined;
    if (trouble.kind === 'unauthorized' || trouble.kind === 'forbidden') {
      refused(trouble);
      return;
    }
    if (cursor === undefined) results.clear();
    const again = () => {
      void load(cursor);
      deps.retried();
    };
    below.replaceChildren(troubleNotice(trouble, 'such registry', again));
  }

  function take(body: unknown, further: boolean): void {
    const { servers, metadata } = members(body);
    if (!further) results.clear();
    const before = results.count();
    // Keeps only the data for the card: documents may be large.
    const cards = items(servers).map((server, index) => card(readEntry(server), before + index + 1, deps));
    if (cards.length > 0) results.add(() => cards.map((make) => make()));
    next = text(members(metadata).nextCursor);
    const nobody = results.count() === 0 ? [nothing(isEmpty(query), cleared)] : [];
    below.replaceChildren(...(next === undefined ? nobody : [element('p', { class: 'hint' }, 'More servers follow.')]));
    // If the end is still near, the observer requests the next page at once.
    if (next !== undefined) end.observe(below);
  }

  return {
    nodes: [results.node, below],
    show(requested) {
      query = requested;
      const key = fragmentOf({ view: 'list', registry, query: requested });
      if (key === shown) return;
      shown = key;
      void load(undefined);
    },
    linkTo: (server) => [...results.node.querySelectorAll('a')].find(({ dataset }) => dataset.server === server),
    stop() {
      asking.abort();
      end.disconnect();
      results.clear();
    },
  };
}

function listPath(registry: string, query: Query, cursor: string | undefined): string {
  const parameters = listParameters(query);
  parameters.set('limit', String(PAGE_SIZE));
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return `${encodeURIComponent(registry)}/v0.1/servers?${parameters}`;
}

/** Returns the parameters that decide which servers are listed and counted. */
export function listParameters(query: Query): URLSearchParams {
  const parameters = queryParameters(query, 'x-');
  parameters.set('version', LATEST);
  return parameters;
}

function nothing(everything: boolean, cleared: () => void): HTMLElement {
  if (!everything) {
    return emptyNotice(
      'Nothing matches',
      'Try fewer words or fewer filters.',
      button('Clear search and filters', cleared),
    );
  }
  return emptyNotice(
    'This registry is empty',
    'Nothing has been synced into it yet, or its filters exclude everything.',
  );
}

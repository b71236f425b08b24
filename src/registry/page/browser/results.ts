// What a search has found in one registry: the servers page after page, their number, and what is told where there are
// none. Of two questions only the later one is answered.

import { fragmentOf, isEmpty, LATEST, NO_QUERY, type Query, queryParameters } from './address.ts';
import type { Api, Trouble } from './api.ts';
import { card } from './card.ts';
import { button, element } from './dom.ts';
import { items, members, text } from './json.ts';
import { emptyNotice, troubleNotice } from './notice.ts';
import type { RunningServers } from './running.ts';

export interface ResultsDeps {
  readonly api: Api;
  readonly registry: string;
  readonly running: RunningServers;
  readonly tagChosen: (tag: string) => void;
  readonly cleared: () => void;
  /** Gets what cannot be told here: that a token is needed. */
  readonly refused: (trouble: Trouble) => void;
}

export interface Results {
  readonly nodes: readonly HTMLElement[];
  /** Asks, unless this is what is shown. */
  show(query: Query): void;
  /** The link to a server that is listed. */
  linkTo(server: string): HTMLElement | undefined;
  stop(): void;
}

const PAGE_SIZE = 30;

export function createResults(deps: ResultsDeps): Results {
  const { api, registry, cleared, refused } = deps;
  const count = element('p', { class: 'summary', role: 'status' });
  const results = element('ol', { class: 'cards', role: 'list' });
  const below = element('div', { class: 'below' });
  let query = NO_QUERY;
  let shown: string | undefined;
  let asking = new AbortController();

  async function load(cursor: string | undefined): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    results.setAttribute('aria-busy', 'true');
    const answer = await api.get(listPath(registry, query, cursor), signal);
    if (signal.aborted) return;
    results.removeAttribute('aria-busy');
    if (answer.ok) take(answer.body, cursor !== undefined);
    else fail(answer.trouble, cursor);
  }

  function fail(trouble: Trouble, cursor: string | undefined): void {
    shown = undefined;
    if (trouble.kind === 'unauthorized' || trouble.kind === 'forbidden') {
      refused(trouble);
      return;
    }
    if (cursor === undefined) results.replaceChildren();
    count.textContent = '';
    below.replaceChildren(troubleNotice(trouble, 'such registry', () => load(cursor)));
  }

  function take(body: unknown, further: boolean): void {
    const { servers, metadata } = members(body);
    const cards = items(servers).map((server) => card(server, deps));
    if (further) results.append(...cards);
    else results.replaceChildren(...cards);
    const next = text(members(metadata).nextCursor);
    const total = results.childElementCount;
    count.textContent = summary(total, next !== undefined);
    const more = next === undefined ? [] : [button('Show more servers', () => load(next), { class: 'more' })];
    below.replaceChildren(...(total === 0 ? [nothing(isEmpty(query), cleared)] : more));
    // The button that was pressed is gone: on to the first of the new ones.
    if (further) cards[0]?.querySelector('a')?.focus();
  }

  return {
    nodes: [count, results, below],
    show(wanted) {
      query = wanted;
      const key = fragmentOf({ view: 'list', registry, query: wanted });
      if (key === shown) return;
      shown = key;
      void load(undefined);
    },
    linkTo: (server) => [...results.querySelectorAll('a')].find(({ dataset }) => dataset.server === server),
    stop: () => asking.abort(),
  };
}

function listPath(registry: string, query: Query, cursor: string | undefined): string {
  const parameters = queryParameters(query, 'x-');
  // What is gone is the latest of nothing.
  if (!query.filters.status.includes('deleted')) parameters.set('version', LATEST);
  parameters.set('limit', String(PAGE_SIZE));
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return `${encodeURIComponent(registry)}/v0.1/servers?${parameters}`;
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
    'Nothing has been synced into it yet, or its filters let nothing through.',
  );
}

function summary(total: number, more: boolean): string {
  if (total === 0) return 'No servers';
  const servers = total === 1 ? '1 server' : `${total} servers`;
  return more ? `First ${servers}, there are more` : servers;
}

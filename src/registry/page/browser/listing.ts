// Shows the servers of one registry with search, filters and results. The listing stays in memory, so that readers who
// return from a server find their position.

import { element } from '#std/page/shared/elements.ts';
import { type Address, fragmentOf, NO_QUERY, type Query } from './address.ts';
import type { Api, Trouble } from './api.ts';
import { createChips } from './chips.ts';
import { title } from './dom.ts';
import { createFilterPanel, readFacets } from './filters.ts';
import { createResults, listParameters } from './results.ts';
import type { RunningServers } from './running/servers.ts';
import { createSearchForm } from './search-form.ts';
import { createSortMenu } from './sort-menu.ts';

export interface ListingDeps {
  readonly api: Api;
  readonly registry: string;
  readonly running: RunningServers;
  /** Writes the address of the list into the URL. */
  readonly addressed: (address: Address) => void;
  /** Handles a required token, which the listing cannot handle itself. */
  readonly refused: (trouble: Trouble) => void;
}

export interface Listing {
  readonly node: HTMLElement;
  show(query: Query): void;
  /** Returns the fragment of the current list, for the link back. */
  address(): string;
  /** Returns the link to a listed server. */
  linkTo(server: string): HTMLElement | undefined;
  stop(): void;
}

export function createListing({ api, registry, running, addressed, refused }: ListingDeps): Listing {
  const form = createSearchForm((search) => ask({ ...query, search }));
  const panel = createFilterPanel((filters) => ask({ ...query, filters }));
  const order = createSortMenu((sort) => ask({ ...query, sort }));
  const chips = createChips(ask);
  const summary = element('p', { class: 'summary', role: 'status' });
  const results = createResults({
    api,
    registry,
    running,
    refused,
    tagChosen: (tag) => ask(withTag(query, tag)),
    cleared() {
      ask({ ...NO_QUERY, sort: query.sort });
      form.focus();
    },
    retried: () => void countServers(),
  });
  let counting = new AbortController();
  let counted: string | undefined;
  let query = NO_QUERY;

  function ask(requested: Query): void {
    addressed({ view: 'list', registry, query: requested });
    show(requested);
  }

  function show(requested: Query): void {
    query = requested;
    form.show(requested.search);
    panel.show(requested);
    order.show(requested);
    chips.show(requested);
    results.show(requested);
    if (counted !== countPath()) void countServers();
  }

  /** Returns the path of the counts, which do not depend on the order. */
  function countPath(): string {
    const parameters = listParameters({ ...query, sort: 'name' });
    return `${encodeURIComponent(registry)}/v0.1/x/dev.skep/facets?${parameters}`;
  }

  /** Counts the values of filters. Shows no error: the list fails for the same reason and shows it. */
  async function countServers(): Promise<void> {
    counting.abort();
    counting = new AbortController();
    const { signal } = counting;
    counted = countPath();
    const answer = await api.get(counted, signal);
    if (signal.aborted) return;
    const facets = answer.ok ? readFacets(answer.body) : undefined;
    if (facets !== undefined) panel.offer(facets.groups);
    summary.textContent = facets === undefined ? '' : totalText(facets.total);
  }

  const head = element('div', { class: 'head' }, summary, order.node);
  return {
    node: layout(registry, form.node, panel.node, [chips.node, head, ...results.nodes]),
    show,
    address: () => fragmentOf({ view: 'list', registry, query }),
    linkTo: results.linkTo,
    stop() {
      form.stop();
      results.stop();
      counting.abort();
    },
  };
}

function totalText(total: number): string {
  if (total === 0) return 'No servers';
  return total === 1 ? '1 server' : `${total.toLocaleString('en')} servers`;
}

function layout(registry: string, form: HTMLElement, panel: HTMLElement, results: readonly HTMLElement[]): HTMLElement {
  const filters = element('details', { class: 'filters' }, element('summary', {}, 'Filters'), panel);
  filters.open = matchMedia('(min-width: 50rem)').matches;
  return element(
    'div',
    { class: 'listing' },
    element('div', { class: 'intro' }, title('Servers in ', element('span', { class: 'text' }, registry)), form),
    element('section', { 'aria-label': 'Filters' }, filters),
    element('section', { 'aria-label': 'Servers' }, ...results),
  );
}

function withTag(query: Query, tag: string): Query {
  return { ...query, filters: { ...query.filters, tag: [...new Set([...query.filters.tag, tag])] } };
}

// The list of servers of one registry: search as you type, filters, results. Keeps what it has found, so that whoever
// comes back from a server is where they were.

import { type Address, fragmentOf, NO_QUERY, type Query } from './address.ts';
import type { Api, Trouble } from './api.ts';
import { createChips } from './chips.ts';
import { element, title } from './dom.ts';
import { createFilterPanel, type FilterPanel, readFacets } from './filters.ts';
import { createResults } from './results.ts';
import type { RunningServers } from './running.ts';
import { createSearchForm } from './search-form.ts';

export interface ListingDeps {
  readonly api: Api;
  readonly registry: string;
  readonly running: RunningServers;
  /** Puts the address into the URL; the listing shows it itself. */
  readonly addressed: (address: Address) => void;
  /** Gets what the listing cannot tell in its own place: that a token is needed. */
  readonly refused: (trouble: Trouble) => void;
}

export interface Listing {
  readonly node: HTMLElement;
  show(query: Query): void;
  /** Of the list as it stands, to come back to. */
  address(): string;
  /** The link to a server that is listed. */
  linkTo(server: string): HTMLElement | undefined;
  stop(): void;
}

export function createListing({ api, registry, running, addressed, refused }: ListingDeps): Listing {
  const form = createSearchForm((search) => ask({ ...query, search }));
  const panel = createFilterPanel((filters) => ask({ ...query, filters }));
  const chips = createChips(ask);
  const results = createResults({
    api,
    registry,
    running,
    refused,
    tagChosen: (tag) => ask(withTag(query, tag)),
    cleared() {
      ask(NO_QUERY);
      form.focus();
    },
  });
  const facetsAsked = new AbortController();
  let query = NO_QUERY;

  function ask(wanted: Query): void {
    addressed({ view: 'list', registry, query: wanted });
    show(wanted);
  }

  function show(wanted: Query): void {
    query = wanted;
    form.show(wanted.search);
    panel.show(wanted);
    chips.show(wanted);
    results.show(wanted);
  }

  void offerFacets(api, registry, panel, facetsAsked.signal);
  return {
    node: layout(registry, form.node, panel.node, [chips.node, ...results.nodes]),
    show,
    address: () => fragmentOf({ view: 'list', registry, query }),
    linkTo: results.linkTo,
    stop() {
      form.stop();
      results.stop();
      facetsAsked.abort();
    },
  };
}

/** Where this fails the list fails too, and says why. */
async function offerFacets(api: Api, registry: string, panel: FilterPanel, signal: AbortSignal): Promise<void> {
  const answer = await api.get(`${encodeURIComponent(registry)}/v0.1/x/dev.skep/facets`, signal);
  if (answer.ok) panel.offer(readFacets(answer.body));
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

// Renders the page of one server: description, client configuration, tools, requirements and versions.

import { element, list } from '#std/page/shared/elements.ts';
import { type Address, fragmentOf, LATEST, NO_QUERY } from './address.ts';
import type { Api, Trouble } from './api.ts';
import { date, figures, glanceAt, icon, marks, tagButton } from './card.ts';
import { connectSection } from './connect.ts';
import { title, webLink } from './dom.ts';
import { type Entry, type Permissions, readEntry, type Tool } from './entry.ts';
import { items, members } from './json.ts';
import { troubleNotice } from './notice.ts';
import type { RunningServers } from './running/servers.ts';
import { runsHere } from './running/view.ts';
import { runsSection } from './runs.ts';

export interface DetailsDeps {
  readonly api: Api;
  readonly running: RunningServers;
  readonly go: (address: Address) => void;
  readonly announce: (text: string) => void;
  readonly refused: (trouble: Trouble) => void;
}

export type ServerAddress = Extract<Address, { readonly view: 'server' }>;

/** Content and title of the page. */
export interface View {
  readonly node: HTMLElement;
  readonly title: string;
}

/**
 * Loads the page. Returns undefined if the request was aborted, or if the request needs a token, which `refused`
 * handles.
 */
export async function loadDetails(
  deps: DetailsDeps,
  address: ServerAddress,
  signal: AbortSignal,
): Promise<View | undefined> {
  const { api, refused } = deps;
  const { registry, server, version } = address;
  const path = `${encodeURIComponent(registry)}/v0.1/servers/${encodeURIComponent(server)}/versions`;
  const [answer, versions] = await Promise.all([
    // A direct link to a deleted server still shows its page.
    api.get(`${path}/${encodeURIComponent(version)}?include_deleted=true`, signal),
    api.get(`${path}?include_deleted=true`, signal),
    deps.running.refresh(signal),
  ]);
  if (signal.aborted) return undefined;
  if (answer.ok) {
    const entry = readEntry(answer.body);
    return { node: view(deps, address, entry, versions.ok ? versions.body : undefined), title: entry.title };
  }
  const { trouble } = answer;
  if (trouble.kind === 'unauthorized' || trouble.kind === 'forbidden') {
    refused(trouble);
    return undefined;
  }
  const notice = troubleNotice(trouble, 'such server', () => deps.go(address));
  return { node: element('div', { class: 'narrow' }, back(registry), title(server), notice), title: server };
}

function view(
  { announce, go, running }: DetailsDeps,
  { registry }: ServerAddress,
  entry: Entry,
  versions: unknown,
): HTMLElement {
  const withTag = (tag: string) =>
    go({ view: 'list', registry, query: { ...NO_QUERY, filters: { ...NO_QUERY.filters, tag: [tag] } } });
  const { name, version, description, overview, tags } = entry;
  return element(
    'article',
    { class: 'details' },
    back(registry),
    element(
      'div',
      { class: 'headline' },
      icon(name, entry.title),
      title(element('span', { class: 'text' }, entry.title)),
    ),
    element('p', { class: 'name text' }, name, ' ', element('span', { class: 'version' }, version)),
    statusNote(entry),
    element('p', { class: 'lead text' }, description),
    runsHere(entry, running),
    connectSection(entry, running, announce),
    marks(glanceAt(entry, running.of(entry).length > 0)),
    figures({ stars: entry.stars, pulls: entry.pulls }),
    tags.length === 0
      ? undefined
      : list(
          tags.map((tag) => tagButton(tag, withTag)),
          { class: 'tags', 'aria-label': 'Tags' },
        ),
    links(entry),
    overview === undefined ? undefined : section('Overview', element('p', { class: 'prose text' }, overview)),
    toolsSection(entry.tools),
    permissionsSection(entry),
    runsSection(entry),
    versionsSection(registry, entry, versions),
  );
}

function section(heading: string, ...children: readonly (HTMLElement | undefined)[]): HTMLElement {
  return element('section', {}, element('h2', {}, heading), ...children);
}

function back(registry: string): HTMLElement {
  const href = fragmentOf({ view: 'list', registry, query: NO_QUERY });
  return element(
    'nav',
    { 'aria-label': 'Breadcrumb', class: 'crumbs' },
    element('a', { href, id: 'back' }, 'All servers in ', element('span', { class: 'text' }, registry)),
  );
}

function statusNote({ status, statusMessage }: Entry): HTMLElement | undefined {
  if (status === 'active' && statusMessage === undefined) return undefined;
  const meaning =
    status === 'deleted' ? 'This version was deleted.' : status === 'deprecated' ? 'This version is deprecated.' : '';
  return element('p', { class: 'notice warn' }, meaning, ' ', element('span', { class: 'text' }, statusMessage ?? ''));
}

function links({ website, repository, changedAt, publishedAt }: Entry): HTMLElement | undefined {
  return factList([
    ['Website', website === undefined ? undefined : webLink(website)],
    ['Source code', repository === undefined ? undefined : webLink(repository)],
    ['Last changed', changedAt === undefined ? undefined : date(changedAt, 'long')],
    [
      'In the catalogue',
      publishedAt === undefined ? undefined : element('span', {}, 'since ', date(publishedAt, 'long')),
    ],
  ]);
}

/** Lists the facts that have an element. */
function factList(facts: readonly (readonly [string, HTMLElement | undefined])[]): HTMLElement | undefined {
  const rows = facts.flatMap(([term, fact]) =>
    fact === undefined ? [] : [element('div', {}, element('dt', {}, term), element('dd', {}, fact))],
  );
  return rows.length === 0 ? undefined : element('dl', { class: 'facts' }, ...rows);
}

function permissionsSection({ permissions, oauth }: Entry): HTMLElement | undefined {
  const login =
    oauth === undefined
      ? undefined
      : codes([
          ...(oauth.issuer === undefined ? [] : [oauth.issuer]),
          ...oauth.scopes.map((scope) => `scope ${scope}`),
        ]);
  const facts = factList([
    ['Asks for a login at', login],
    ...(permissions === undefined ? [] : permissionFacts(permissions)),
  ]);
  return facts === undefined ? undefined : section('Permissions', facts);
}

function permissionFacts({
  hosts,
  read,
  write,
  privileged,
}: Permissions): readonly [string, HTMLElement | undefined][] {
  const network =
    hosts === 'any'
      ? element('span', {}, 'any host')
      : hosts.length === 0
        ? element('span', {}, 'no network')
        : codes(hosts);
  return [
    ['Reaches', network],
    ['Reads files in', read.length === 0 ? undefined : codes(read)],
    ['Writes files in', write.length === 0 ? undefined : codes(write)],
    ['Privileged', privileged ? element('span', { class: 'mark warn' }, 'yes') : undefined],
  ];
}

function codes(values: readonly string[]): HTMLElement {
  return element(
    'span',
    {},
    ...values.flatMap((value, index) => [index === 0 ? '' : ', ', element('code', { class: 'text' }, value)]),
  );
}

function toolsSection(tools: readonly Tool[]): HTMLElement | undefined {
  if (tools.length === 0) return undefined;
  const terms = tools.map(({ name, description }) =>
    element(
      'div',
      {},
      element('dt', {}, element('code', { class: 'text' }, name)),
      description === undefined ? undefined : element('dd', { class: 'prose text' }, description),
    ),
  );
  const described = tools.some(({ description }) => description !== undefined);
  return section(`Tools (${tools.length})`, element('dl', { class: described ? 'tools' : 'tools names' }, ...terms));
}

function versionsSection(registry: string, shown: Entry, body: unknown): HTMLElement | undefined {
  const versions = items(members(body).servers).map(readEntry);
  if (versions.length === 0) return undefined;
  const rows = versions.map(({ name, version, status, isLatest, publishedAt }) => {
    const href = fragmentOf({ view: 'server', registry, server: name, version: isLatest ? LATEST : version });
    return element(
      'span',
      {},
      element('a', { href, class: 'text', 'aria-current': version === shown.version ? 'page' : undefined }, version),
      isLatest ? element('span', { class: 'mark' }, 'latest') : undefined,
      status === 'active' ? undefined : element('span', { class: 'mark warn text' }, status),
      publishedAt === undefined ? undefined : date(publishedAt, 'long'),
    );
  });
  return section('Versions', list(rows, { class: 'versions' }));
}

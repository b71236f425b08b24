// Shows running servers: a band above the catalogue, a page for each server, and a line on the page of an entry.

import { h } from 'preact';
import { element, list } from '#std/page/shared/elements.ts';
import { mounted } from '#std/page/shared/kit/mount.ts';
import { StateWord } from '#std/page/shared/kit/states.ts';
import { fragmentOf, NO_QUERY } from '../address.ts';
import { connectTo } from '../connect.ts';
import { secureLink, title } from '../dom.ts';
import type { Entry } from '../entry.ts';
import type { Logins } from './login.ts';
import { launchOfRunning, type Provenance, type Running, type RunningServers } from './servers.ts';
import { tabsOf } from './tabs.ts';
import { tryPanel } from './try.ts';

/**
 * Returns whether it is unknown which servers run. In a fleet, an empty list means that no reconciler has recorded
 * servers.
 */
function isUnknown({ place, list }: RunningServers): boolean {
  return place === 'hidden' || (place === 'fleet' && list().length === 0);
}

/** Returns undefined if it is unknown which servers run. */
export function runningBand(running: RunningServers): HTMLElement | undefined {
  if (isUnknown(running)) return undefined;
  const servers = running.list();
  const rows = servers.map(rowOf);
  const none = element('p', {}, 'None yet: a committed server appears here once its proxy answers.');
  return element(
    'section',
    { class: 'running', 'aria-label': 'Running here' },
    element('h2', {}, 'Running here'),
    servers.length === 0 ? none : list(rows.slice(0, ROWS_SHOWN)),
    moreRows(rows.slice(ROWS_SHOWN)),
    missingToken(running, servers),
  );
}

/** Limits the rows, because a fleet may be large and the catalogue follows. */
const ROWS_SHOWN = 12;

function moreRows(rows: readonly HTMLElement[]): HTMLElement | undefined {
  if (rows.length === 0) return undefined;
  return element('details', {}, element('summary', {}, `${rows.length.toLocaleString('en')} more`), list(rows));
}

/** Returns undefined if the token is known, or if no server requires it. */
function missingToken(running: RunningServers, servers: readonly Running[]): HTMLElement | undefined {
  if (running.token() !== '' || servers.every(({ auth }) => auth !== 'token')) return undefined;
  return element(
    'p',
    { class: 'notice' },
    'Open this page by the address that skep dev prints: it contains the token that calls need.',
  );
}

function rowOf(server: Running): HTMLElement {
  const url = element('code', { class: 'text soft' }, server.url);
  return element('span', {}, readiness(server), linkTo(server), driftMark(server), url);
}

function driftMark({ drift }: Running): HTMLElement | undefined {
  return drift === undefined
    ? undefined
    : mounted(h(StateWord, { state: 'drifted', label: 'tools differ from their lock' }));
}

function linkTo({ namespace, name }: Running): HTMLElement {
  const href = fragmentOf({ view: 'running', namespace, name });
  return element('a', { href, class: 'text' }, `${namespace}/${name}`);
}

function readiness({ ready, notRunHere }: Running): HTMLElement {
  if (notRunHere !== undefined) return mounted(h(StateWord, { state: 'not-run', label: 'does not run here' }));
  return mounted(
    h(StateWord, ready ? { state: 'healthy', label: 'ready' } : { state: 'progressing', label: 'not ready' }),
  );
}

/**
 * Shows on the page of an entry the servers that run here, each with its facts. Returns undefined if this is unknown.
 */
export function runsHere(entry: Entry, running: RunningServers): HTMLElement | undefined {
  if (isUnknown(running)) return undefined;
  const servers = running.of(entry);
  if (servers.length === 0)
    return element('p', { class: 'here' }, 'It does not run here: the catalogue only lists it.');
  const parts = servers
    .slice(0, FACTS_SHOWN)
    .map((server) => element('div', { class: 'one' }, element('h3', {}, linkTo(server)), facts(server)));
  return element(
    'section',
    { class: 'running here' },
    element('h2', {}, 'It runs here'),
    ...parts,
    moreRows(servers.slice(FACTS_SHOWN).map(rowOf)),
  );
}

/** Number of servers with all their facts: an entry may run in many namespaces. */
const FACTS_SHOWN = 3;

const CONNECT = 'Connect a client';

export interface RunningViewDeps {
  readonly running: RunningServers;
  readonly logins: Logins;
  readonly announce: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Returns undefined if no server with this name runs here. */
export function runningView(
  deps: RunningViewDeps,
  namespace: string,
  name: string,
): { readonly node: HTMLElement; readonly title: string } | undefined {
  const { running, logins, announce, signal } = deps;
  const server = running.find(namespace, name);
  if (server === undefined) return undefined;
  const state = element('div', {});
  const show = () => state.replaceChildren(facts(running.find(namespace, name) ?? { ...server, ready: false }));
  show();
  running.watch(show, signal);
  const way = { label: server.url, launch: launchOfRunning(server, running.token()) };
  const back = fragmentOf({ view: 'list', registry: undefined, query: NO_QUERY });
  const node = element(
    'article',
    { class: 'details' },
    element(
      'nav',
      { 'aria-label': 'Breadcrumb', class: 'crumbs' },
      element('a', { href: back, id: 'back' }, 'All servers'),
    ),
    title(element('span', { class: 'text' }, name)),
    state,
    missingToken(running, [server]),
    insideNote(server),
    // The page sends no requests to servers of a fleet, which have other origins.
    running.place === 'beside' && server.notRunHere === undefined
      ? tabsOf('Ways to use it', [
          { id: 'try', title: 'Try it', node: tryPanel(server, { token: running.token, logins, announce, signal }) },
          { id: 'connect', title: CONNECT, node: connectTo(name, [way], announce) },
        ])
      : element('section', {}, element('h2', {}, CONNECT), connectTo(name, [way], announce)),
  );
  return { node, title: name };
}

const NEEDS: Readonly<Record<Running['auth'], string>> = {
  oidc: 'a login at its issuer',
  token: 'the token of skep dev',
  none: 'no token',
};

/** Returns a note about a URL that only the cluster's DNS resolves. */
function insideNote({ url }: Running): HTMLElement | undefined {
  if (!/\.svc(\.|$)/.test(URL.parse(url)?.hostname ?? '')) return undefined;
  return element('p', { class: 'hint' }, 'This address is known inside the cluster only.');
}

/** Shows an attestation. The builder chose the texts of the certificate, so only https URLs become links. */
function provenanceText({ predicateType, repository, identity }: Provenance): HTMLElement {
  return element(
    'div',
    { class: 'provenance' },
    element('p', { class: 'text' }, predicateType),
    repository === undefined ? undefined : element('p', {}, 'Repository: ', secureLink(repository, repository)),
    identity === undefined ? undefined : element('p', {}, 'Workflow: ', secureLink(workflowUrl(identity), identity)),
  );
}

const WORKFLOW = /^(https:\/\/[^/]+\/[^/]+\/[^/]+)\/(\.github\/workflows\/[^@]+)@refs\/(?:heads|tags)\/(.+)$/;

/** Returns the URL of the workflow's file on its GitHub server. Returns undefined for signers of another form. */
function workflowUrl(identity: string): string | undefined {
  const [, repository, file, ref] = WORKFLOW.exec(identity) ?? [];
  if (repository === undefined || file === undefined || ref === undefined) return undefined;
  return [`${repository}/blob`, ...[...ref.split('/'), ...file.split('/')].map(encodeURIComponent)].join('/');
}

/** Shows the differing definitions, and the command that compares them. */
function driftText({ namespace, name }: Running, drift: string): HTMLElement {
  return element(
    'div',
    { class: 'drift' },
    element('p', { class: 'text' }, drift),
    element(
      'p',
      { class: 'hint' },
      'The definitions that the server offers differ from the reviewed ones. Compare the texts, then accept them in Git or go back to the earlier image:',
    ),
    element('code', { class: 'text' }, `skep lock ${namespace}/${name} --diff`),
  );
}

function facts(server: Running): HTMLElement {
  const { namespace, url, transport, auth, image, args, remoteUrl } = server;
  const runs = remoteUrl ?? [image ?? '', ...args].join(' ').trim();
  const built = server.provenance.map((each) => ['Attested', provenanceText(each)] as const);
  const rows: readonly (readonly [string, string | HTMLElement])[] = [
    ['State', readiness(server)],
    ...(server.drift === undefined ? [] : [['Tools', driftText(server, server.drift)] as const]),
    ...(server.notRunHere === undefined ? [] : [['Why', server.notRunHere] as const]),
    ['URL', element('code', { class: 'text' }, url)],
    ['Transport', transport === 'sse' ? 'HTTP+SSE' : 'streamable HTTP'],
    ['Needs', NEEDS[auth]],
    ['Namespace', namespace],
    ...(runs === ''
      ? []
      : [[remoteUrl === undefined ? 'Image' : 'Runs at', element('code', { class: 'text' }, runs)] as const]),
    ...built,
  ];
  return element(
    'dl',
    { class: 'facts' },
    ...rows.map(([term, fact]) => element('div', {}, element('dt', {}, term), element('dd', {}, fact))),
  );
}

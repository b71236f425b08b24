// Runs the catalogue page: shows the view of the URL fragment, and moves the focus to the view. All data comes from the
// public API of the same service.

import { button, byId, element } from '#std/page/shared/elements.ts';
import { type Address, fragmentOf, NO_QUERY, readAddress } from './address.ts';
import { createApi, type Trouble } from './api.ts';
import { loadDetails, type ServerAddress } from './details.ts';
import { showHeader } from './header.ts';
import { items, members, text } from './json.ts';
import { createListing, type Listing } from './listing.ts';
import { describeTrouble, emptyNotice, troubleNotice } from './notice.ts';
import { createLogins } from './running/login.ts';
import { createRunning, readPlace } from './running/servers.ts';
import { runningBand, runningView } from './running/view.ts';
import { signInView } from './sign-in.ts';

type RunningAddress = Extract<Address, { readonly view: 'running' }>;

/** Title that the service has written into the page. */
const PAGE_TITLE = document.title;

const main = byId('main');
const runningPlace = readPlace(document.documentElement.dataset.running);
showHeader(byId('header'), PAGE_TITLE, runningPlace);
const controls = byId('controls');
const announcer = byId('announcer');
const api = createApi();
const running = createRunning(api, runningPlace);
const logins = createLogins();
const needsToken = document.documentElement.dataset.auth === 'oauth';
const listings = new Map<string, Listing>();
let registries: readonly string[] = [];
let loading = new AbortController();
/** Aborted when another view replaces the current view. */
let placed = new AbortController();
/** Server that was shown last. When the reader returns to the list, the link to this server gets the focus. */
let visited: string | undefined;
/** True after the first view: for the first view, the browser itself has set the focus. */
let moves = false;

function announce(message: string): void {
  // A changed text makes screen readers read the same message again.
  announcer.textContent = announcer.textContent === message ? `${message} ` : message;
}

function go(address: Address): void {
  const fragment = fragmentOf(address);
  if (location.hash === fragment) void show();
  else location.hash = fragment;
}

async function start(): Promise<void> {
  if (needsToken && !api.hasToken()) return askForToken(undefined);
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const answer = await api.get('extension/v0/registries', signal);
  if (signal.aborted) return;
  if (!answer.ok) return failed(answer.trouble, start);
  registries = items(members(answer.body).registries).flatMap((registry) => text(members(registry).name) ?? []);
  await show();
}

async function show(): Promise<void> {
  loading.abort();
  loading = new AbortController();
  const address = readAddress(location.hash);
  if (address.view === 'running') {
    await showRunning(address, loading.signal);
    return;
  }
  const registry = address.registry ?? registries[0];
  showControls(registry);
  if (registry === undefined) {
    await showWithoutRegistry(loading.signal);
  } else if (address.view === 'list') {
    await running.refresh(loading.signal);
    if (!loading.signal.aborted) showListing(registry, address);
  } else {
    await showServer(address, loading.signal);
  }
}

async function showWithoutRegistry(signal: AbortSignal): Promise<void> {
  await running.refresh(signal);
  if (signal.aborted) return;
  const notice =
    running.place === 'beside'
      ? emptyNotice(
          'There is no catalogue',
          'Commit an MCPRegistry, load this page again, and its servers are listed here.',
        )
      : emptyNotice('No registry is configured', 'Add one to registries in the configuration of this service.');
  placeBelowRunning(notice, PAGE_TITLE, undefined);
}

function showListing(registry: string, { query }: Extract<Address, { readonly view: 'list' }>): void {
  const listing = listings.get(registry) ?? newListing(registry);
  listings.set(registry, listing);
  const isThere = listing.node.isConnected;
  listing.show(query);
  if (isThere) return;
  const focus = visited === undefined ? undefined : listing.linkTo(visited);
  placeBelowRunning(listing.node, `${registry} · ${PAGE_TITLE}`, focus);
  visited = undefined;
}

/** Shows running servers above `node`. Updates them while they are shown. */
function placeBelowRunning(node: HTMLElement, heading: string, focus: HTMLElement | undefined): void {
  const band = element('div', {}, runningBand(running));
  place(element('div', {}, band, node), heading, focus);
  running.watch(() => band.replaceChildren(runningBand(running) ?? ''), placed.signal);
}

async function showRunning({ namespace, name }: RunningAddress, signal: AbortSignal): Promise<void> {
  await running.refresh(signal);
  if (signal.aborted) return;
  const left = new AbortController();
  const view = runningView({ running, logins, announce, signal: left.signal }, namespace, name);
  if (view === undefined) {
    place(emptyNotice(`${namespace}/${name} does not run here`, 'Go back to the list of running servers.'), PAGE_TITLE);
    return;
  }
  place(view.node, `${view.title} · ${PAGE_TITLE}`);
  placed.signal.addEventListener('abort', () => left.abort(), { once: true });
}

function newListing(registry: string): Listing {
  return createListing({
    api,
    registry,
    running,
    addressed: (address) => history.replaceState(undefined, '', fragmentOf(address)),
    refused: askForToken,
  });
}

async function showServer(address: ServerAddress, signal: AbortSignal): Promise<void> {
  main.setAttribute('aria-busy', 'true');
  const view = await loadDetails({ api, running, go, announce, refused: askForToken }, address, signal);
  if (signal.aborted) return;
  main.removeAttribute('aria-busy');
  if (view === undefined) return;
  visited = address.server;
  place(view.node, `${view.title} · ${PAGE_TITLE}`);
  const back = document.getElementById('back');
  // Makes the link back lead to the list with its filters.
  const left = listings.get(address.registry)?.address();
  if (left !== undefined) back?.setAttribute('href', left);
}

/** `focus` is the element that gets the focus. Default: the heading. */
function place(node: HTMLElement, title: string, focus?: HTMLElement): void {
  placed.abort();
  placed = new AbortController();
  main.removeAttribute('aria-busy');
  main.replaceChildren(node);
  document.title = title;
  if (moves) {
    const at = focus ?? main.querySelector('h1') ?? main;
    at.focus({ preventScroll: true });
    if (focus === undefined) scrollTo(0, 0);
    else focus.scrollIntoView({ block: 'center' });
  }
  moves = true;
}

function failed(trouble: Trouble, again: () => Promise<void>): void {
  if (trouble.kind === 'unauthorized' || trouble.kind === 'forbidden') {
    askForToken(trouble);
    return;
  }
  place(
    element(
      'div',
      { class: 'narrow' },
      troubleNotice(trouble, 'such registry', () => void again()),
    ),
    PAGE_TITLE,
  );
}

/** `trouble` is the reason why the last token was refused, or undefined if no token was refused. */
function askForToken(trouble: Trouble | undefined): void {
  forget();
  const reported = trouble === undefined ? undefined : describeTrouble(trouble, 'such registry');
  const notice =
    reported === undefined
      ? undefined
      : element(
          'div',
          { class: 'notice trouble', role: 'alert' },
          element('p', { class: 'strong' }, reported.title),
          element('p', {}, reported.advice),
        );
  place(
    signInView(api, notice, () => void start()),
    `Token needed · ${PAGE_TITLE}`,
  );
}

function forget(): void {
  api.setToken(undefined);
  loading.abort();
  for (const listing of listings.values()) listing.stop();
  listings.clear();
  registries = [];
  controls.replaceChildren();
}

function showControls(registry: string | undefined): void {
  const options = registries.map((name) => element('option', { value: name }, name));
  const select = element('select', { id: 'registry' }, ...options);
  if (registry !== undefined) select.value = registry;
  select.addEventListener('change', () => go({ view: 'list', registry: select.value, query: NO_QUERY }));
  const chooser = registries.length < 2 ? [] : [element('label', { for: 'registry' }, 'Registry'), select];
  const signOut = api.hasToken() ? [button('Forget token', () => askForToken(undefined))] : [];
  // An existing select element is kept, because the reader may be using it.
  if (controls.querySelector('select')?.options.length === options.length && registries.length > 1) {
    const present = controls.querySelector('select');
    if (present !== null && registry !== undefined) present.value = registry;
    return;
  }
  controls.replaceChildren(...chooser, ...signOut);
}

addEventListener('hashchange', () => {
  running.readToken();
  if (!needsToken || api.hasToken()) void show();
});
// MCP sessions end with the page. A page that the browser restores from its cache starts again.
addEventListener('pagehide', () => placed.abort());
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void start();
});
running.readToken();
await logins.finish();
void start();

// Shows client configurations: readers choose a client and a way to run or reach the server, and copy the text.

import { button, element, list } from '#std/page/shared/elements.ts';
import { CLIENTS, type Client } from './clients.ts';
import type { Entry } from './entry.ts';
import { type Launch, type Way, waysOf } from './launch.ts';
import { launchOfRunning, type RunningServers } from './running/servers.ts';
import { shellLine } from './shell.ts';

/** Lists running servers first. `announce` informs screen readers that a text was copied. */
export function connectSection(entry: Entry, running: RunningServers, announce: (text: string) => void): HTMLElement {
  const here = running.of(entry).map(
    (server): Way => ({
      label: `Running here: ${server.namespace}/${server.name}`,
      launch: launchOfRunning(server, running.token()),
    }),
  );
  const heading = element('h2', {}, 'Connect a client');
  return element('section', {}, heading, connectTo(entry.name, [...here, ...waysOf(entry)], announce));
}

export function connectTo(name: string, ways: readonly Way[], announce: (text: string) => void): HTMLElement {
  const usable = ways.filter(({ launch }) => launch !== undefined);
  const [first] = usable;
  const [firstClient] = CLIENTS;
  if (first === undefined || firstClient === undefined) {
    return element('p', {}, whyNot(ways));
  }
  let way = first;
  let client = firstClient;
  const output = element('div', {});
  function render(): void {
    output.replaceChildren(...snippets(name, client, way, announce));
  }
  const clients = CLIENTS.map((each) =>
    radio('client', each.name, each === client, () => {
      client = each;
      render();
    }),
  );
  const chooser = element(
    'select',
    { id: 'way' },
    ...usable.map(({ label }, index) => element('option', { value: String(index) }, label)),
  );
  chooser.addEventListener('change', () => {
    way = usable[Number(chooser.value)] ?? way;
    render();
  });
  render();
  return element(
    'div',
    { class: 'connect' },
    element('fieldset', { class: 'choices' }, element('legend', { class: 'unseen' }, 'Client'), ...clients),
    usable.length > 1
      ? element('p', { class: 'ways' }, element('label', { for: 'way' }, 'Run or reach it as'), chooser)
      : undefined,
    output,
  );
}

function whyNot(ways: readonly Way[]): string {
  if (ways.length === 0) return 'This entry names neither a package nor a remote, so there is nothing to connect to.';
  return 'There is no ready-made configuration for this kind of delivery; the known facts are below.';
}

function radio(name: string, label: string, checked: boolean, chosen: () => void): HTMLElement {
  const input = element('input', { type: 'radio', name, value: label });
  input.checked = checked;
  input.addEventListener('change', chosen);
  return element('label', {}, input, element('span', {}, label));
}

function snippets(
  server: string,
  client: Client,
  { launch }: Way,
  announce: (text: string) => void,
): readonly HTMLElement[] {
  if (launch === undefined) return [];
  const configuration = client.configure(server, launch);
  if (configuration === undefined) return [element('p', {}, `${client.name} cannot run it in this way.`)];
  const { text, variables } = configuration;
  const needsStart = launch.kind === 'address' && client.starts !== true ? launch.start : undefined;
  const start = needsStart === undefined ? undefined : shellLine(needsStart);
  const needed = variables.map(({ name, description }) =>
    element('span', {}, element('code', { class: 'text' }, name), ' ', element('span', { class: 'text' }, description)),
  );
  const parts = [
    ...(start === undefined ? [] : [snippet('Start it first', start, announce)]),
    installLink(client, server, launch),
    snippet(client.file, text, announce),
    ...(needed.length === 0 ? [] : [element('p', {}, `Set before ${client.name} starts:`), list(needed)]),
  ];
  return parts.filter((part) => part !== undefined);
}

function installLink(client: Client, server: string, launch: Launch): HTMLElement | undefined {
  const href = client.install?.(server, launch);
  if (href === undefined) return undefined;
  return element('p', {}, element('a', { href, class: 'install' }, `Install in ${client.name}`));
}

/** Shows a text with a copy button. `announce` informs screen readers that the text was copied. */
export function snippet(label: string, text: string, announce: (text: string) => void): HTMLElement {
  // Focusable, so that keyboard users can scroll the text.
  const code = element('pre', { tabindex: '0', role: 'region', 'aria-label': label }, element('code', {}, text));
  const copy = button('Copy', () => void copyText(), { 'aria-label': `Copy ${label}` });
  async function copyText(): Promise<void> {
    const copied = await toClipboard(text);
    copy.textContent = copied ? 'Copied' : 'Selected';
    if (!copied) getSelection()?.selectAllChildren(code);
    announce(
      copied
        ? 'Copied'
        : 'The browser does not allow the page to copy; the text is selected, so copy it with the keyboard.',
    );
  }
  return element('figure', { class: 'snippet' }, element('figcaption', {}, element('code', {}, label), copy), code);
}

/** Returns false if the browser does not let the page copy, for example because the page was loaded without https. */
async function toClipboard(text: string): Promise<boolean> {
  if (navigator.clipboard === undefined) return false;
  return await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

// Shows each backend with its health, its address and its items.

import { element } from '#std/page/shared/elements.ts';
import type { Backend, ListName, Offered, VirtualServerView } from './api.ts';
import { named, textList } from './dom.ts';

/** Maximum number of shown items. More items would make the browser slow. */
const SHOWN_MAX = 500;

const WORDS: Readonly<Record<ListName, string>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
  skills: 'skill',
};

export function wordOf(list: ListName, count = 1): string {
  return count === 1 ? WORDS[list] : `${WORDS[list]}s`;
}

export function backendsView({ backends, status }: VirtualServerView): HTMLElement {
  const byBackend = Map.groupBy(status.offered, ({ backend }) => backend);
  const own = byBackend.get(undefined) ?? [];
  return element(
    'section',
    {},
    element('h2', {}, 'Backends'),
    backends.length === 0 ? element('p', { class: 'hint' }, 'There are none.') : undefined,
    ...backends.map((backend) => backendView(backend, byBackend.get(backend.name) ?? [])),
    own.length === 0
      ? undefined
      : card('Offered by the server itself', [element('span', { class: 'what' }, countsOf(own))], [offeredView(own)]),
  );
}

function backendView(backend: Backend, offered: readonly Offered[]): HTMLElement {
  const { name, status, per_caller } = backend;
  const offers = per_caller === true ? 'shows other items to each caller' : countsOf(offered);
  const head = [element('span', { class: `state ${status}` }, status), element('span', { class: 'what' }, offers)];
  return card(name, head, [backendFacts(backend), offeredView(offered)]);
}

function card(name: string, head: readonly Node[], inside: readonly (Node | undefined)[]): HTMLElement {
  return element(
    'details',
    {},
    element('summary', {}, element('span', { class: 'name text' }, name), ...head),
    element('div', { class: 'inside' }, ...inside),
  );
}

function backendFacts(backend: Backend): HTMLElement {
  const {
    url,
    transport,
    auth_type,
    message,
    last_check,
    circuit_state,
    consecutive_failures,
    metadata = {},
  } = backend;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Address', url],
    ['Transport', transport],
    ['Authentication', auth_type],
    ['Last check', last_check === undefined ? undefined : new Date(last_check).toLocaleString()],
    ['Failures in a row', consecutive_failures === 0 ? undefined : String(consecutive_failures)],
    ['Reason', message],
    ['Circuit', circuit_state],
    ...Object.entries(metadata),
  ];
  return element(
    'dl',
    {},
    ...facts.flatMap(([term, value]) =>
      value === undefined ? [] : [element('dt', { class: 'text' }, term), element('dd', { class: 'text' }, value)],
    ),
  );
}

/** Lists the items that clients see before the hidden items. */
function offeredView(offered: readonly Offered[]): HTMLElement | undefined {
  if (offered.length === 0) return undefined;
  const sorted = offered.toSorted((a, b) => Number(b.advertised) - Number(a.advertised));
  const items = sorted
    .slice(0, SHOWN_MAX)
    .map(({ list, name, own = name, advertised }) => [
      named(name),
      ` ${wordOf(list)}`,
      own === name ? undefined : ', there ',
      own === name ? undefined : named(own),
      advertised ? undefined : element('span', { class: 'soft' }, ', hidden from clients'),
    ]);
  const more = sorted.length > SHOWN_MAX ? [[`and ${sorted.length - SHOWN_MAX} more: /status has all`]] : [];
  return textList([...items, ...more]);
}

function countsOf(offered: readonly Offered[]): string {
  const counts = [...Map.groupBy(offered, ({ list }) => list)].map(([list, all]) => {
    const hidden = all.filter(({ advertised }) => !advertised).length;
    return `${all.length} ${wordOf(list, all.length)}${hidden === 0 ? '' : ` (${hidden} hidden)`}`;
  });
  return counts.length === 0 ? 'offers nothing' : counts.join(', ');
}

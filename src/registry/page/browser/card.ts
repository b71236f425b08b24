// One server in the list, and the small marks that the list and a server's own page share.

import { fragmentOf, LATEST } from './address.ts';
import { button, element, list } from './dom.ts';
import { type Entry, readEntry } from './entry.ts';
import type { RunningServers } from './running.ts';

const TAGS_SHOWN = 6;

export interface CardDeps {
  readonly registry: string;
  readonly running: RunningServers;
  readonly tagChosen: (tag: string) => void;
}

export function card(response: unknown, { registry, running, tagChosen }: CardDeps): HTMLLIElement {
  const entry = readEntry(response);
  const href = fragmentOf({
    view: 'server',
    registry,
    server: entry.name,
    version: entry.isLatest ? LATEST : entry.version,
  });
  const link = element('a', { href, 'data-server': entry.name }, entry.title);
  const tags = entry.tags.slice(0, TAGS_SHOWN).map((tag) => tagButton(tag, tagChosen));
  const hidden = entry.tags.length - tags.length;
  return element(
    'li',
    { class: 'card' },
    element('h2', { class: 'text' }, link),
    element('p', { class: 'name text' }, entry.name, ' ', element('span', { class: 'version' }, entry.version)),
    element('p', { class: 'description text' }, entry.description),
    marks(entry, running.of(entry).length > 0),
    tags.length === 0
      ? undefined
      : list(
          [...tags, hidden > 0 ? element('span', { class: 'count' }, `${hidden} more`) : undefined].filter(
            (item) => item !== undefined,
          ),
          {
            class: 'tags',
            'aria-label': 'Tags',
          },
        ),
  );
}

export function tagButton(tag: string, chosen: (tag: string) => void): HTMLButtonElement {
  const pressed = button(tag, () => chosen(tag), { class: 'tag text' });
  pressed.title = `Only servers tagged ${tag}`;
  return pressed;
}

/** Whether it runs here, status where it is not the usual one, tier, transports, number of tools. */
export function marks({ status, tier, transports, tools }: Entry, runs: boolean): HTMLElement {
  const marked = [
    runs ? element('span', { class: 'mark ready' }, 'runs here') : undefined,
    status === 'active' ? undefined : element('span', { class: 'mark warn text' }, status),
    tier === undefined ? undefined : element('span', { class: 'mark tier text' }, tier),
    ...transports.map((transport) => element('span', { class: 'mark text' }, transport)),
    tools.length === 0
      ? undefined
      : element('span', { class: 'mark' }, tools.length === 1 ? '1 tool' : `${tools.length} tools`),
  ];
  return list(
    marked.filter((mark) => mark !== undefined),
    { class: 'marks', 'aria-label': 'At a glance' },
  );
}

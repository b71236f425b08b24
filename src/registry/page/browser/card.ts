// Renders a server as a card of the list, and the marks that cards and the page of a server share.

import { button, element, list } from '#std/page/shared/elements.ts';
import { fragmentOf, LATEST } from './address.ts';
import type { Entry, Permissions } from './entry.ts';
import type { RunningServers } from './running/servers.ts';

const TAGS_SHOWN = 4;

export interface CardDeps {
  readonly registry: string;
  readonly running: RunningServers;
  readonly tagChosen: (tag: string) => void;
}

/**
 * Returns a function that creates the card. The function holds only the shown fields of the entry. `position` in the
 * list counts from 1.
 */
export function card(entry: Entry, position: number, { registry, running, tagChosen }: CardDeps): () => HTMLElement {
  const { name, title, version, description, isLatest, tags } = entry;
  const address = { view: 'server', registry, server: name, version: isLatest ? LATEST : version } as const;
  const { stars, pulls, changedAt } = entry;
  const glance = glanceAt(entry, running.of(entry).length > 0);
  return () => {
    const link = element('a', { href: fragmentOf(address), 'data-server': name }, title);
    const tagButtons = tags.slice(0, TAGS_SHOWN).map((tag) => tagButton(tag, tagChosen));
    return element(
      'div',
      { class: 'card', role: 'listitem', 'aria-posinset': String(position), 'aria-setsize': '-1' },
      icon(name, title),
      element(
        'div',
        { class: 'body' },
        element('h2', { class: 'text' }, link),
        element('p', { class: 'name text' }, name, ' ', element('span', { class: 'version' }, version)),
        element('p', { class: 'description text' }, description),
        element('div', { class: 'glance' }, marks(glance), tagList(tagButtons, tags.length)),
      ),
      figures({ stars, pulls, changedAt }),
    );
  };
}

function tagList(shown: readonly HTMLElement[], total: number): HTMLElement | undefined {
  if (total === 0) return undefined;
  const hidden = total - shown.length;
  const more = hidden > 0 ? [element('span', { class: 'count' }, `${hidden} more`)] : [];
  return list([...shown, ...more], { class: 'tags', 'aria-label': 'Tags' });
}

const HUES = 8;

/**
 * Shows the first letter on a coloured tile instead of the server's picture: the host of the picture would learn which
 * servers the reader views.
 */
export function icon(name: string, title: string): HTMLElement {
  const [letter = '?'] = title.match(/[\p{L}\p{N}]/u) ?? [];
  const hue = [...name].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 7) % HUES;
  return element('span', { class: `icon hue-${hue}`, 'aria-hidden': 'true' }, letter.toUpperCase());
}

/** Shows the known ones of stars, pulls and last change. Returns undefined if all three are unknown. */
export function figures({
  stars,
  pulls,
  changedAt,
}: Pick<Entry, 'stars' | 'pulls' | 'changedAt'>): HTMLElement | undefined {
  const shown = [
    stars === undefined ? undefined : figure('★', shortNumber(stars), `${stars.toLocaleString('en')} stars`),
    pulls === undefined ? undefined : figure('↓', shortNumber(pulls), `${pulls.toLocaleString('en')} pulls`),
    changedAt === undefined ? undefined : date(changedAt, 'medium'),
  ];
  const known = shown.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : list(known, { class: 'figures', 'aria-label': 'Figures' });
}

function figure(sign: string, short: string, long: string): HTMLElement {
  const visible = element('span', { 'aria-hidden': 'true' }, `${sign} ${short}`);
  return element('span', { title: long }, visible, element('span', { class: 'unseen' }, long));
}

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

function shortNumber(value: number): string {
  return SHORT.format(value);
}

const FORMATS = {
  medium: new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }),
  long: new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }),
};

/** Shows the day of an RFC 3339 time. Shows any other text unchanged. */
export function date(instant: string, style: keyof typeof FORMATS): HTMLElement {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return element('span', { class: 'text' }, instant);
  return element('time', { datetime: instant, title: instant }, FORMATS[style].format(time));
}

export function tagButton(tag: string, chosen: (tag: string) => void): HTMLButtonElement {
  const pressed = button(tag, () => chosen(tag), { class: 'tag text' });
  pressed.title = `Only servers tagged ${tag}`;
  return pressed;
}

/** A short text with its CSS classes. */
type Mark = readonly [text: string, look: string];

/**
 * Returns the marks of a server: whether it runs here, an unusual status, tier, transports, number of tools, login,
 * permissions.
 */
export function glanceAt(entry: Entry, runs: boolean): readonly Mark[] {
  const { status, tier, transports, tools, oauth, permissions } = entry;
  return [
    ...(runs ? [['runs here', 'ready'] as const] : []),
    ...(status === 'active' ? [] : [[status, 'warn text'] as const]),
    ...(tier === undefined ? [] : [[tier, 'tier text'] as const]),
    ...transports.map((transport) => [transport, 'text'] as const),
    ...(tools.length === 0 ? [] : [[tools.length === 1 ? '1 tool' : `${tools.length} tools`, ''] as const]),
    ...(oauth === undefined ? [] : [['OAuth', ''] as const]),
    ...(permissions === undefined ? [] : permissionMarks(permissions)),
  ];
}

function permissionMarks({ hosts, read, write, privileged }: Permissions): readonly Mark[] {
  const files = read.length + write.length;
  return [
    ...(privileged ? [['privileged', 'warn'] as const] : []),
    ...(hosts === 'any' ? [['any host', 'warn'] as const] : []),
    ...(hosts !== 'any' && hosts.length === 0 ? [['no network', ''] as const] : []),
    ...(hosts !== 'any' && hosts.length > 0
      ? [[hosts.length === 1 ? '1 host' : `${hosts.length} hosts`, ''] as const]
      : []),
    ...(files > 0 ? [[write.length > 0 ? 'writes files' : 'reads files', ''] as const] : []),
  ];
}

export function marks(glance: readonly Mark[]): HTMLElement {
  return list(
    glance.map(([text, look]) => element('span', { class: `mark ${look}`.trim() }, text)),
    { class: 'marks', 'aria-label': 'At a glance' },
  );
}

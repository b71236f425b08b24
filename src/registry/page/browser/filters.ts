// Shows the filters of a list as groups of checkboxes with numbers of servers.

import { button, element } from '#std/page/shared/elements.ts';
import { FILTER_NAMES, type FilterName, type Query } from './address.ts';
import { items, members, text } from './json.ts';

interface Facet {
  readonly value: string;
  /** Number of servers in the list if this value is chosen. Absent if unknown. */
  readonly count?: number;
}

export interface Facets {
  /** Number of servers in the list. */
  readonly total: number;
  readonly groups: Readonly<Record<FilterName, readonly Facet[]>>;
}

const LEGENDS: Readonly<Record<FilterName, string>> = {
  tag: 'Tags',
  tier: 'Tier',
  transport: 'Transport',
  status: 'Status',
};
/** Keys of the groups in the API response. */
const MEMBERS: Readonly<Record<FilterName, string>> = {
  tag: 'tags',
  tier: 'tiers',
  transport: 'transports',
  status: 'statuses',
};
/** Number of values that a group shows before it is expanded. Chosen values are always shown. */
const SHOWN_AT_FIRST = 12;

export function readFacets(body: unknown): Facets {
  const answer = members(body);
  const read = (name: FilterName) =>
    items(answer[MEMBERS[name]]).flatMap((item): Facet[] => {
      const { value, count } = members(item);
      const known = text(value);
      return known === undefined ? [] : [{ value: known, count: Number(count) }];
    });
  // The API counts no deleted servers, but the list can show them.
  const status = read('status');
  const gone = status.some(({ value }) => value === 'deleted') ? [] : [{ value: 'deleted' }];
  const groups = { tag: read('tag'), tier: read('tier'), transport: read('transport'), status: [...status, ...gone] };
  return { total: Number(answer.total), groups };
}

export interface FilterPanel {
  readonly node: HTMLElement;
  show(query: Query): void;
  offer(groups: Facets['groups']): void;
}

/** `changed` receives the chosen filters. */
export function createFilterPanel(changed: (filters: Query['filters']) => void): FilterPanel {
  const node = element('div', { class: 'facets' });
  const expanded = new Set<FilterName>();
  let facets: Facets['groups'] = { tag: [], tier: [], transport: [], status: [] };
  const met: Record<FilterName, readonly string[]> = { tag: [], tier: [], transport: [], status: [] };
  let chosen: Query['filters'] = { tag: [], tier: [], transport: [], status: [] };

  function toggle(name: FilterName, value: string, on: boolean): void {
    const others = chosen[name].filter((each) => each !== value);
    chosen = { ...chosen, [name]: on ? [...others, value] : others };
    changed(chosen);
  }

  /** Renders the groups, and restores the focus on the checkbox that had it. */
  function render(): void {
    const { activeElement } = document;
    const at = activeElement instanceof HTMLInputElement && node.contains(activeElement) ? activeElement : undefined;
    node.replaceChildren(
      ...FILTER_NAMES.filter((name) => offered(name).length > 0).map((name) => group(name, offered(name))),
    );
    const inputs = at === undefined ? [] : [...node.querySelectorAll('input')];
    inputs.find(({ name, value }) => name === at?.name && value === at.value)?.focus({ preventScroll: true });
  }

  /**
   * Returns the values to show. Includes chosen values without servers, so that the reader can remove them. All groups
   * except tags also include values that only an earlier response of the API contained.
   */
  function offered(name: FilterName): readonly Facet[] {
    const kept = [...chosen[name], ...(name === 'tag' ? [] : met[name])];
    const missing = [...new Set(kept)].filter((value) => !facets[name].some((facet) => facet.value === value));
    const none = missing.map((value) => ({ value, count: 0 }));
    return name === 'tag' ? [...none, ...facets[name]] : [...facets[name], ...none];
  }

  function group(name: FilterName, all: readonly Facet[]): HTMLElement {
    const few = expanded.has(name)
      ? all
      : all.filter(({ value }, index) => index < SHOWN_AT_FIRST || chosen[name].includes(value));
    const fields = few.map((facet) => checkbox(name, facet));
    const hidden = all.length - few.length;
    const more = button(
      `Show ${hidden} more`,
      () => {
        expanded.add(name);
        render();
        node.querySelectorAll<HTMLInputElement>(`[name="${name}"]`)[few.length]?.focus();
      },
      { class: 'quiet' },
    );
    return element('fieldset', {}, element('legend', {}, LEGENDS[name]), ...fields, hidden > 0 ? more : undefined);
  }

  function checkbox(name: FilterName, { value, count }: Facet): HTMLElement {
    const input = element('input', { type: 'checkbox', name, value });
    input.checked = chosen[name].includes(value);
    input.addEventListener('change', () => toggle(name, value, input.checked));
    return element('label', {}, input, element('span', { class: 'text' }, value), number(count));
  }

  return {
    node,
    show({ filters }) {
      chosen = filters;
      // The checkboxes are not created again, because the focus would be lost.
      for (const input of node.querySelectorAll('input')) {
        input.checked = FILTER_NAMES.some((name) => name === input.name && filters[name].includes(input.value));
      }
      const all = FILTER_NAMES.flatMap((name) => filters[name]);
      const shown = [...node.querySelectorAll('input')].map(({ value }) => value);
      if (all.some((value) => !shown.includes(value))) render();
    },
    offer(groups) {
      facets = groups;
      for (const name of FILTER_NAMES) {
        met[name] = [...new Set([...met[name], ...groups[name].map(({ value }) => value)])];
      }
      render();
    },
  };
}

function number(count: number | undefined): HTMLElement | undefined {
  if (count === undefined) return undefined;
  const unit = element('span', { class: 'unseen' }, count === 1 ? ' server' : ' servers');
  return element('span', { class: 'count' }, count.toLocaleString('en'), unit);
}

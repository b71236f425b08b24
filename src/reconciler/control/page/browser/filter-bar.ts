// Renders the filters by text, namespace, kind and source. The key / moves the focus to the text.

import { h } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { FleetEntry } from '../../../run/fleet-state/format.ts';
import { distinctValues, type Filters, isFiltered, NO_FILTERS } from './filters.ts';

interface Props {
  readonly entries: readonly FleetEntry[];
  readonly filters: Filters;
  readonly set: (filters: Filters) => void;
}

export function FilterBar({ entries, filters, set }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return h(
    'search',
    { class: 'filters' },
    h('input', {
      ...{
        ref: input,
        type: 'search',
        'aria-label': 'Filter by text',
        placeholder: 'Filter by name or reason',
        value: filters.text,
      },
      ...{ spellcheck: false, autocomplete: 'off', 'aria-keyshortcuts': '/' },
      onInput: (event: Event) => set({ ...filters, text: valueIn(event) }),
    }),
    CHOICES.map((choice) => h(Choice, { key: choice.field, ...choice, entries, filters, set })),
    isFiltered(filters)
      ? h('button', { type: 'button', class: 'quiet', onClick: () => set(NO_FILTERS) }, 'Clear')
      : null,
  );
}

interface ChoiceOfField {
  readonly field: 'namespace' | 'kind' | 'source';
  readonly label: string;
  readonly all: string;
  /** Number of values below which the choice is left out. */
  readonly atLeast: number;
}

const CHOICES: readonly ChoiceOfField[] = [
  { field: 'namespace', label: 'Namespace', all: 'All namespaces', atLeast: 0 },
  { field: 'kind', label: 'Kind', all: 'All kinds', atLeast: 0 },
  { field: 'source', label: 'Source', all: 'All sources', atLeast: 2 },
];

function Choice({ field, label, all, atLeast, entries, filters, set }: ChoiceOfField & Props) {
  const values = useMemo(() => distinctValues(entries, field), [entries, field]);
  const value = filters[field];
  if (values.length < atLeast && value === '') return null;
  return h(
    'select',
    { 'aria-label': label, value, onChange: (event: Event) => set({ ...filters, [field]: valueIn(event) }) },
    h('option', { value: '' }, all),
    values.map((each) => h('option', { key: each, value: each }, each)),
  );
}

function valueIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
}

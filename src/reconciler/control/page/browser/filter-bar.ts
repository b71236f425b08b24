// Renders the filters by text, namespace and kind. The key / moves the focus to the text.

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
  const namespaces = useMemo(() => distinctValues(entries, 'namespace'), [entries]);
  const kinds = useMemo(() => distinctValues(entries, 'kind'), [entries]);
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
    h(Choice, {
      label: 'Namespace',
      all: 'All namespaces',
      values: namespaces,
      value: filters.namespace,
      choose: (namespace) => set({ ...filters, namespace }),
    }),
    h(Choice, {
      label: 'Kind',
      all: 'All kinds',
      values: kinds,
      value: filters.kind,
      choose: (kind) => set({ ...filters, kind }),
    }),
    isFiltered(filters)
      ? h('button', { type: 'button', class: 'quiet', onClick: () => set(NO_FILTERS) }, 'Clear')
      : null,
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly value: string;
  readonly choose: (value: string) => void;
}

function Choice({ label, all, values, value, choose }: ChoiceProps) {
  return h(
    'select',
    { 'aria-label': label, value, onChange: (event: Event) => choose(valueIn(event)) },
    h('option', { value: '' }, all),
    values.map((each) => h('option', { key: each, value: each }, each)),
  );
}

function valueIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
}

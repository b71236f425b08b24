// Renders the fleet: its state in one line, the entries that need a person, and all entries as a list or as a map.

import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Glyph, STATE_NAMES, STATES } from '#std/page/shared/kit/states.ts';
import type { EntryState, FleetState } from '../../../run/fleet-state/format.ts';
import type { Answer } from './api.ts';
import { FilterBar } from './filter-bar.ts';
import { type Filters, filterEntries, filtersIn, isFiltered, queryOf } from './filters.ts';
import { FleetList } from './fleet-list.ts';
import { FleetMap } from './map/map-view.ts';
import { attentionText, TROUBLES } from './ranks.ts';
import { FLEET, MAP, routeOf, WAITING } from './route.ts';
import { SyncButton } from './waiting/act-buttons.ts';
import { countWaiting, type Waiting, waitingText } from './waiting/waiting-format.ts';

interface Props {
  readonly fleet: FleetState;
  readonly as: 'list' | 'map';
  readonly now: number;
  /** Filters in the address. */
  readonly query: string;
  readonly waiting: Answer<Waiting> | undefined;
}

export function FleetView({ fleet, as, now, query, waiting }: Props) {
  const [said, say] = useState('');
  const [filters, setFilters] = useFilters(as, query);
  const shown = useMemo(() => filterEntries(fleet.entries, filters), [fleet, filters]);
  function toggle(state: EntryState): void {
    const states = new Set(filters.states);
    if (!states.delete(state)) states.add(state);
    setFilters({ ...filters, states });
  }
  const found = `${shown.length} of ${fleet.entries.length}`;
  return h(
    'main',
    { class: 'page', tabIndex: -1 },
    h('div', { class: 'heading' }, h('h1', null, headline(fleet)), h(SyncButton, { say })),
    h('p', { class: 'said', role: 'status' }, said),
    h(RunNotice, { fleet }),
    h(WaitingNotice, { waiting }),
    h(Proportions, { counts: fleet.counts, total: fleet.entries.length }),
    h(StateFilters, { counts: fleet.counts, chosen: filters.states, toggle }),
    h(FilterBar, { entries: fleet.entries, filters, set: setFilters }),
    h('p', { class: 'unseen', role: 'status' }, isFiltered(filters) ? `${found} shown` : ''),
    shown.length === 0
      ? h('p', { class: 'empty' }, emptyText(fleet))
      : h(as === 'map' ? FleetMap : FleetList, {
          entries: shown,
          all: fleet.entries,
          commits: fleet.run?.commits ?? {},
          now,
        }),
  );
}

/** Milliseconds until filters are in the address: browsers allow few changes of it at a time. */
const ADDRESS_AFTER_MS = 250;

/** Keeps the filters in the address, so that links and the way back from a resource keep them. */
function useFilters(as: Props['as'], query: string) {
  const [filters, setFilters] = useState<Filters>(() => filtersIn(query));
  useEffect(() => {
    if (query !== '') setFilters(filtersIn(query));
  }, [query]);
  useEffect(() => {
    const address = `${as === 'map' ? MAP : FLEET}${isFiltered(filters) ? `?${queryOf(filters)}` : ''}`;
    const timer = setTimeout(() => {
      // The reader may have left, although this view is still there.
      if (routeOf(location).view === 'fleet') history.replaceState(null, '', address);
    }, ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [as, filters]);
  return [filters, setFilters] as const;
}

function emptyText({ run, entries }: FleetState): string {
  if (run === undefined) return 'Nothing is known before the first run has ended.';
  if (entries.length === 0 && run.failures !== undefined) return 'Nothing is known after a run that failed.';
  return entries.length === 0 ? 'Nothing is declared yet.' : 'Nothing matches these filters.';
}

function headline({ run, counts, entries }: FleetState): string {
  if (run === undefined) return 'The first run has not ended yet';
  if (entries.length === 0) return run.failures === undefined ? 'Nothing is declared yet' : 'The last run failed';
  const healthy = counts.healthy ?? 0;
  const rest = entries.length - healthy;
  if (rest === 0) return `All ${entries.length} are healthy`;
  const troubled = entries.filter(({ state }) => TROUBLES.has(state)).length;
  const attention = troubled === 0 ? '' : `, ${attentionText(troubled)}`;
  return `${healthy} of ${entries.length} are healthy${attention}`;
}

function RunNotice({ fleet: { run } }: { readonly fleet: FleetState }) {
  const { paused, failures = [] } = run ?? {};
  if (paused === undefined && failures.length === 0) return null;
  return h(
    'div',
    { class: 'banner', role: 'alert' },
    paused === undefined ? null : h('p', null, `Nothing is written now: ${paused}.`),
    ...failures.map(({ code, message }) => h('p', { class: 'text' }, `${code}: ${message}`)),
  );
}

function WaitingNotice({ waiting }: Pick<Props, 'waiting'>) {
  const count = waiting?.ok === true ? countWaiting(waiting.body) : 0;
  return count === 0 ? null : h('p', { class: 'notice' }, h('a', { href: WAITING }, waitingText(count)));
}

interface Counts {
  readonly counts: FleetState['counts'];
}

/** Renders a bar that screen readers skip: the counts next to it say the same. */
function Proportions({ counts, total }: Counts & { readonly total: number }) {
  if (total === 0) return null;
  const parts = STATE_NAMES.filter((state) => (counts[state] ?? 0) > 0);
  return h(
    'div',
    { class: 'proportions', 'aria-hidden': true },
    parts.map((state) => h('span', { key: state, class: state, style: { flexGrow: counts[state] ?? 0 } })),
  );
}

interface StateFilterProps extends Counts {
  readonly chosen: ReadonlySet<EntryState>;
  readonly toggle: (state: EntryState) => void;
}

function StateFilters({ counts, chosen, toggle }: StateFilterProps) {
  const present = STATE_NAMES.filter((state) => (counts[state] ?? 0) > 0 || chosen.has(state));
  return h(
    'div',
    { class: 'states', role: 'group', 'aria-label': 'Filter by state' },
    present.map((state) =>
      h(
        'button',
        { key: state, type: 'button', class: 'chip', 'aria-pressed': chosen.has(state), onClick: () => toggle(state) },
        h(Glyph, { state }),
        h('b', null, counts[state] ?? 0),
        ` ${STATES[state].label}`,
      ),
    ),
  );
}

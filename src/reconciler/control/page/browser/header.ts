// Renders the header of the console: the instance, the views, and the age of the shown data.

import { h } from 'preact';
import type { FleetState } from '../../../run/fleet-state/format.ts';
import type { Answer } from './api.ts';
import type { Live } from './live.ts';
import { FLEET, MAP, type Route, RUNS, WAITING } from './route.ts';
import type { Session } from './session.ts';
import { Time } from './times.ts';
import { countWaiting, type Waiting } from './waiting/waiting-format.ts';

interface Props {
  readonly fleet: FleetState;
  readonly live: Live;
  readonly now: number;
  readonly route: Route;
  readonly waiting: Answer<Waiting> | undefined;
  /** Undefined before it is known. */
  readonly session: Session | undefined;
  readonly logOut: () => unknown;
}

export function Header({ fleet, live, now, route, waiting, session, logOut }: Props) {
  const count = waiting?.ok === true ? countWaiting(waiting.body) : 0;
  const { view } = route;
  const { catalogue = '' } = document.documentElement.dataset;
  const isMap = route.view === 'fleet' && route.as === 'map';
  return h(
    'header',
    { class: 'bar' },
    h('button', { type: 'button', class: 'skip', onClick: skip }, 'Skip to content'),
    h('a', { class: 'brand', href: FLEET }, h(Logo, null), h('span', { class: 'text' }, fleet.instance)),
    h(
      'nav',
      { 'aria-label': 'Views' },
      tab('Fleet', FLEET, view === 'fleet' && !isMap),
      tab('Map', MAP, isMap),
      tab('Runs', RUNS, view === 'runs'),
      tab(count === 0 ? 'Waiting' : `Waiting (${count})`, WAITING, view === 'waiting'),
      catalogue === '' ? null : h('a', { href: catalogue }, 'Catalogue'),
    ),
    h(LiveState, { fleet, live, now }),
    session?.means === 'login'
      ? h(
          'p',
          { class: 'person' },
          h('span', { class: 'soft text wide', title: session.role }, session.name),
          h('button', { type: 'button', class: 'small', onClick: logOut }, 'Log out'),
        )
      : null,
  );
}

function skip(): void {
  document.querySelector<HTMLElement>('main')?.focus();
}

function tab(label: string, href: string, isCurrent: boolean) {
  return h('a', { href, 'aria-current': isCurrent ? 'page' : undefined }, label);
}

function LiveState({ fleet: { run }, live, now }: Pick<Props, 'fleet' | 'live' | 'now'>) {
  const { connected, running } = live;
  const name = !connected ? 'offline' : running ? 'running' : 'live';
  return h(
    'p',
    { class: `live ${name}` },
    h('span', { class: 'dot', 'aria-hidden': true }),
    h('span', null, !connected ? 'Connecting' : running ? 'A run is under way' : 'Live'),
    run === undefined ? null : h('span', { class: 'soft wide' }, 'last run ', h(Time, { at: run.at, now })),
  );
}

function Logo() {
  return h(
    'svg',
    { viewBox: '0 0 24 24', width: 24, height: 24, 'aria-hidden': true },
    h('path', {
      class: 'hive',
      d: 'M12 2c-4.200 0-7 2.700-7 5.200 0 .7.2 1.300.5 1.900C4 10 3.200 11.300 3.200 12.800c0 1 .4 1.900 1 2.600-.7.700-1.200 1.600-1.200 2.600C3 20.300 5 22 7.500 22h9c2.500 0 4.500-1.700 4.500-4 0-1-.5-1.900-1.200-2.600.6-.7 1-1.600 1-2.600 0-1.500-.8-2.800-2.300-3.700.3-.6.5-1.200.5-1.900C19 4.700 16.200 2 12 2Z',
    }),
    h('path', { class: 'weave', d: 'M6 9.300h12M4.600 15.300h14.800' }),
    h('path', { class: 'door', d: 'M9.800 22v-2.300a2.200 2.200 0 0 1 4.400 0V22Z' }),
  );
}

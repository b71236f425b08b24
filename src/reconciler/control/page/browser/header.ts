// Renders the header of the console: the instance, the views, and the age of the shown data.

import { h } from 'preact';
import { PageHeader } from '#std/page/shared/kit/header.ts';
import type { FleetState } from '../../../run/fleet-state/format.ts';
import type { Live } from './live.ts';
import { FLEET, MAP, type Route, RUNS } from './route.ts';
import { Time } from './times.ts';

interface Props {
  readonly fleet: FleetState;
  readonly live: Live;
  readonly now: number;
  readonly route: Route;
}

export function Header({ fleet, live, now, route }: Props) {
  const { view } = route;
  const { catalogue = '' } = document.documentElement.dataset;
  const isMap = route.view === 'fleet' && route.as === 'map';
  const views = [
    { label: 'Fleet', href: FLEET, isCurrent: view === 'fleet' && !isMap },
    { label: 'Map', href: MAP, isCurrent: isMap },
    { label: 'Runs', href: RUNS, isCurrent: view === 'runs' },
    ...(catalogue === '' ? [] : [{ label: 'Catalogue', href: catalogue }]),
  ];
  return h(PageHeader, { title: fleet.instance, home: FLEET, views }, h(LiveState, { fleet, live, now }));
}

function LiveState({ fleet: { run }, live, now }: Omit<Props, 'route'>) {
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

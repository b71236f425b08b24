// Renders the header of the console: the instance, the views, and the age of the shown data.

import { h } from 'preact';
import { PageHeader } from '#std/page/shared/kit/header.ts';
import type { FleetState } from '../../../run/fleet-state/format.ts';
import type { Answer } from './api.ts';
import type { Live } from './live.ts';
import { FLEET, MAP, type Route, RUNS, runAddress, WAITING } from './route.ts';
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
  const views = [
    { label: 'Fleet', href: FLEET, isCurrent: view === 'fleet' && !isMap },
    { label: 'Map', href: MAP, isCurrent: isMap },
    { label: 'Runs', href: RUNS, isCurrent: view === 'runs' },
    { label: count === 0 ? 'Waiting' : `Waiting (${count})`, href: WAITING, isCurrent: view === 'waiting' },
    ...(catalogue === '' ? [] : [{ label: 'Catalogue', href: catalogue }]),
  ];
  return h(
    PageHeader,
    { title: fleet.instance, home: FLEET, views },
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

function LiveState({ fleet: { run }, live, now }: Pick<Props, 'fleet' | 'live' | 'now'>) {
  const { connected, running } = live;
  const name = !connected ? 'offline' : running ? 'running' : 'live';
  return h(
    'p',
    { class: `live ${name}` },
    h('span', { class: 'dot', 'aria-hidden': true }),
    h('span', null, !connected ? 'Connecting' : running ? 'A run is under way' : 'Live'),
    run === undefined
      ? null
      : h('a', { class: 'soft wide', href: runAddress(run.id) }, 'last run ', h(Time, { at: run.at, now })),
  );
}

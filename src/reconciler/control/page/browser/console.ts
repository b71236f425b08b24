// Renders the console: one header, and the view that the address names. It follows the runs of the process while it is
// open.

import { h } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FleetState } from '../../../run/fleet-state/format.ts';
import { ActingContext } from './acting.ts';
import type { Answer, Api } from './api.ts';
import { FleetView } from './fleet-view.ts';
import { Header } from './header.ts';
import { followRuns, type Live } from './live.ts';
import { TROUBLES } from './ranks.ts';
import { ResourceView } from './resource/resource-view.ts';
import { type Route, routeOf } from './route.ts';
import { RunsView } from './runs/runs-view.ts';
import type { Session } from './session.ts';
import { SignIn } from './sign-in.ts';
import type { Waiting as WaitingNow } from './waiting/waiting-format.ts';
import { WaitingView } from './waiting/waiting-view.ts';

/** Maximum age of the times on the page. */
const TICK_MS = 5000;

export function Console({ api }: { readonly api: Api }) {
  const [fleet, setFleet] = useState<FleetState>();
  const tag = useRef<string | null>(null);
  const [refused, setRefused] = useState<string>();
  const [fault, setFault] = useState<string>();
  const [live, setLive] = useState<Live>({ connected: false, running: false });
  const [revision, setRevision] = useState(0);
  const route = useRoute();
  const [now, setNow] = useNow(api);

  const load = useCallback(async () => {
    const answer = await api.fleet();
    if (answer.ok) {
      setNow(api.now());
      if (answer.tag === null || answer.tag !== tag.current) {
        tag.current = answer.tag;
        setFleet(answer.body);
        setRevision((before) => before + 1);
      }
    }
    setFault(answer.ok || answer.refused ? undefined : answer.says);
    setRefused(answer.ok || !answer.refused ? undefined : api.hasToken() ? UNKNOWN_TOKEN : '');
    return answer.ok;
  }, [api]);

  const { session, waiting, reload } = useWaiting(api, revision);

  useEffect(() => void load(), [load]);
  const isOpen = fleet !== undefined && refused === undefined;
  useEffect(() => (isOpen ? followRuns(api, load, setLive) : undefined), [api, load, isOpen]);

  async function logOut(): Promise<void> {
    await api.logOut();
    await load();
  }

  const title = titleOf(route, fleet);
  useEffect(() => {
    document.title = title;
  }, [title]);

  if (refused !== undefined) return h(SignIn, { api, reported: refused, open: load });
  if (fleet === undefined) return h(Waiting, { fault, load });
  const shown = h(
    'div',
    { class: 'console' },
    h(Header, { fleet, live, now, route, waiting, session, logOut }),
    fault === undefined ? null : h('p', { class: 'banner', role: 'alert' }, `What is shown may be old: ${fault}.`),
    h(View, { api, fleet, route, now, revision, live, waiting }),
  );
  return h(ActingContext.Provider, { value: session && { api, session, reload }, children: shown });
}

/** Reads who the reader is, and what waits, after each run and each action. */
function useWaiting(api: Api, revision: number) {
  const [session, setSession] = useState<Session>();
  const [waiting, setWaiting] = useState<Answer<WaitingNow>>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (revision === 0) return undefined;
    let isCurrent = true;
    void Promise.all([api.session(), api.waiting()]).then(([who, what]) => {
      if (!isCurrent) return;
      if (who.ok) setSession(who.body);
      setWaiting(what);
    });
    return () => {
      isCurrent = false;
    };
  }, [api, revision, attempt]);
  const reload = useCallback(() => setAttempt((before) => before + 1), []);
  return { session, waiting, reload };
}

/** Returns the title of the tab: the number of entries that need a person, the view, and the instance. */
function titleOf(route: Route, fleet: FleetState | undefined): string {
  const troubled = fleet?.entries.filter(({ state }) => TROUBLES.has(state)).length ?? 0;
  const { view } = route;
  const name = view === 'resource' ? route.id : view === 'fleet' ? (route.as === 'map' ? 'Map' : 'Fleet') : NAMES[view];
  return `${troubled === 0 ? '' : `(${troubled}) `}${name} · ${fleet?.instance ?? 'skep'}`;
}

const NAMES = { runs: 'Runs', waiting: 'Waiting' } as const;

const UNKNOWN_TOKEN = 'The reconciler does not know this token.';

interface ViewProps {
  readonly api: Api;
  readonly fleet: FleetState;
  readonly route: Route;
  readonly now: number;
  readonly revision: number;
  readonly live: Live;
  readonly waiting: Answer<WaitingNow> | undefined;
}

function View({ api, fleet, route, now, revision, live, waiting }: ViewProps) {
  switch (route.view) {
    case 'resource':
      return h(ResourceView, { key: route.id, api, fleet, id: route.id, now, revision });
    case 'runs':
      return h(RunsView, { api, fleet, open: route.open, now, revision, live });
    case 'waiting':
      return h(WaitingView, { fleet, waiting, now });
    case 'fleet':
      return h(FleetView, { fleet, as: route.as, query: route.query, now, waiting });
  }
}

function Waiting({ fault, load }: { readonly fault: string | undefined; readonly load: () => unknown }) {
  if (fault === undefined) return h('main', { class: 'page' }, h('p', { class: 'hint' }, 'Loading the fleet'));
  return h(
    'main',
    { class: 'page' },
    h('p', { class: 'banner', role: 'alert' }, `The fleet cannot be shown: ${fault}. `),
    h('button', { type: 'button', onClick: load }, 'Try again'),
  );
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location));
  useEffect(() => {
    const moved = () => {
      setRoute(routeOf(location));
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return route;
}

function useNow(api: Api) {
  const [now, setNow] = useState(api.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(api.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [api]);
  return [now, setNow] as const;
}

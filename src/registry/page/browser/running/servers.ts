// Reads the running servers, of this machine (`skep dev`) or of a fleet, with their URLs and readiness.

import type { Api, Answer as ApiAnswer } from '../api.ts';
import type { Entry } from '../entry.ts';
import { items, members, text, texts } from '../json.ts';
import type { Launch } from '../launch.ts';
import { openDevToken } from './dev-token.ts';

export interface Provenance {
  readonly predicateType: string;
  readonly repository?: string;
  readonly identity?: string;
}

export interface Running {
  readonly namespace: string;
  readonly name: string;
  readonly url: string;
  readonly transport: 'http' | 'sse';
  readonly ready: boolean;
  /** Names of definitions that differ from the reviewed definitions. Absent if none differs. */
  readonly drift?: string;
  /** Why the server does not run on this machine. Absent if it runs here. */
  readonly notRunHere?: string;
  /** Required token: `token` is the token of `skep dev`, `oidc` a token of the server's own issuer. */
  readonly auth: 'token' | 'oidc' | 'none';
  readonly image?: string;
  readonly args: readonly string[];
  /** Verified attestations of the image. */
  readonly provenance: readonly Provenance[];
  readonly remoteUrl?: string;
}

/**
 * `hidden`: the page shows no running servers. `beside`: servers run on this machine, at URLs of this origin. `fleet`:
 * servers run in a fleet, at any URLs.
 */
export type Place = 'hidden' | 'beside' | 'fleet';

export interface RunningServers {
  readonly place: Place;
  readonly list: () => readonly Running[];
  /** Returns the token of `skep dev`, or an empty text if the page has no valid token. */
  readonly token: () => string;
  /** Reads the token from the URL. */
  readonly readToken: () => void;
  readonly find: (namespace: string, name: string) => Running | undefined;
  /** Returns the running servers that a catalogue entry describes. */
  readonly of: (entry: Entry) => readonly Running[];
  /** Requests the list repeatedly until the signal is aborted. Calls `changed` after each change. */
  readonly watch: (changed: () => void, signal: AbortSignal) => void;
  /** Requests the list once. */
  readonly refresh: (signal: AbortSignal) => Promise<void>;
}

export function readPlace(given: string | undefined): Place {
  return given === 'beside' || given === 'fleet' ? given : 'hidden';
}

/** Pauses between requests in milliseconds. A reconciler records the servers about twice a minute. */
const AGAIN_MS: Readonly<Record<Place, number>> = { hidden: 0, beside: 2_000, fleet: 15_000 };

export function createRunning(api: Api, place: Place): RunningServers {
  let servers: readonly Running[] = [];
  const start = openDevToken();
  let authorised = false;
  const watching = new Set<() => void>();

  function take(answer: ApiAnswer): boolean {
    const body = members(answer.ok ? answer.body : undefined);
    const found = items(body.servers).map(readRunning);
    const before = JSON.stringify([servers, authorised]);
    servers = answer.ok ? found : servers.map((server) => ({ ...server, ready: false }));
    if (answer.ok) authorised = body.authorised === true;
    if (place === 'beside' && answer.ok && !authorised) start.forget();
    return JSON.stringify([servers, authorised]) !== before;
  }

  function ask(signal: AbortSignal): Promise<ApiAnswer> {
    const own = place === 'beside' ? start.value() : '';
    return api.get('mcp', signal, own === '' ? undefined : own);
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    if (place === 'hidden') return;
    const answer = await ask(signal);
    if (signal.aborted || !take(answer)) return;
    for (const changed of watching) changed();
  }

  return {
    place,
    list: () => servers,
    token: () => (authorised ? start.value() : ''),
    readToken: () => (place === 'beside' ? start.take() : undefined),
    find: (namespace, name) => servers.find((each) => each.namespace === namespace && each.name === name),
    of: (entry) => servers.filter((server) => standsFor(entry, server)),
    watch(changed, signal) {
      if (place === 'hidden') return;
      watching.add(changed);
      signal.addEventListener('abort', () => watching.delete(changed), { once: true });
      async function look(): Promise<void> {
        await refresh(signal);
        if (signal.aborted) return;
        setTimeout(() => void (signal.aborted || look()), AGAIN_MS[place]);
      }
      setTimeout(() => void (signal.aborted || look()), AGAIN_MS[place]);
    },
    refresh,
  };
}

function readRunning(value: unknown): Running {
  const { namespace, name, url, transport, ready, drift, notRunHere, auth, image, args, provenance, remoteUrl } =
    members(value);
  return {
    namespace: text(namespace) ?? '',
    name: text(name) ?? '',
    url: text(url) ?? '',
    transport: transport === 'sse' ? 'sse' : 'http',
    ready: ready === true,
    drift: text(drift),
    notRunHere: text(notRunHere),
    auth: auth === 'oidc' || auth === 'none' ? auth : 'token',
    args: texts(args),
    image: text(image),
    provenance: items(provenance).map(readProvenance),
    remoteUrl: text(remoteUrl),
  };
}

function readProvenance(value: unknown): Provenance {
  const { predicateType, repository, identity } = members(value);
  return { predicateType: text(predicateType) ?? '', repository: text(repository), identity: text(identity) };
}

/** Returns whether an entry describes the server: by the remote's URL, or by the image and the arguments. */
function standsFor({ packages, remotes, args }: Entry, server: Running): boolean {
  if (server.remoteUrl !== undefined) return remotes.some(({ url }) => url === server.remoteUrl);
  const image = packages.some(({ registryType, identifier }) => registryType === 'oci' && identifier === server.image);
  return image && args.every((arg, index) => server.args[index] === arg);
}

/**
 * Returns how a client reaches the server. For a server with `auth: token`, the headers contain the token of `skep
 * dev`. If `token` is empty, the reader must enter the token.
 */
export function launchOfRunning({ url, transport, auth }: Running, token: string): Launch {
  const description = 'The token that skep dev prints';
  const blank = { name: 'token', description, secret: true } as const;
  const value = token === '' ? ['Bearer ', blank] : [`Bearer ${token}`];
  const headers = auth === 'token' ? [{ name: 'Authorization', value }] : [];
  return { kind: 'address', type: transport, url: [url], headers };
}

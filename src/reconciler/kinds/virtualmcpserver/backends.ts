// Finds the backends of a virtual server: members of its group or listed backends, each with its authentication
// strategy.

import type { HeldLock } from '#contracts/tool-lock/held.ts';
import type { VmcpBackend } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { digest } from '#std/hash.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { specReader } from '../aliases.ts';
import type { Bundle } from '../auth/ca-bundle.ts';
import type { Kind, Resource, View } from '../kind.ts';
import { MCPRemoteProxy } from '../mcpremoteproxy/index.ts';
import { MCPRemoteProxySpec } from '../mcpremoteproxy/schema.ts';
import { MCPServer } from '../mcpserver/index.ts';
import type { Env } from '../pods/pod.ts';
import { isSleeper } from '../proxy/annotations.ts';
import { toolsLock, toolsLockFault } from '../tools-lock.ts';
import { type EntryParts, entryFault, entryParts, NO_ENTRY, specOfEntry } from './entries.ts';
import { membersOf, outgoingSource, type Spec } from './facts.ts';
import { modelStrategy } from './model-strategies.ts';
import { type Converted, strategyOf, withKnownProvider } from './strategies.ts';

const readRemoteProxy = specReader(MCPRemoteProxySpec);

export interface Backend extends VmcpBackend {
  /** Source of the settings for authentication to the backend. `nobody`: no settings apply. */
  readonly by: 'backend' | 'discovered' | 'default' | 'nobody';
  /** Name of the MCPExternalAuthConfig, if the strategy comes from one. */
  readonly authConfig?: string;
  /** Authentication strategy, or the reason why the backend cannot be called. */
  readonly auth: Converted;
  /** Resource of the backend, if the backend is a member of the group. */
  readonly member?: KubeObject;
  /** Settings that an MCPServerEntry adds to the backend. */
  readonly entry: EntryParts;
}

/** Returns the backends, sorted by name. */
export function backendsOf({ config, ...spec }: Spec, view: View): readonly Backend[] {
  const members = membersOf(view, config.groupRef);
  const written = config.backends ?? [];
  const found = [...members.values()].flatMap((member) => listed(member, view));
  const all = written.length > 0 ? written : found;
  return all
    .map((backend): Backend => {
      const member = members.get(backend.name);
      const declared = entryOf(member);
      const auth = settled({ config, ...spec }, view, backend.name, member);
      const authConfig = auth.by === 'discovered' ? auth.authConfig : undefined;
      const lock = memberLock(member, backend, view);
      const fault =
        lock.fault ?? (declared === undefined ? undefined : entryFault(declared, backend, authConfig, view));
      if (fault !== undefined) return { ...backend, member, ...auth, auth: fault, entry: NO_ENTRY };
      const entry = declared === undefined ? NO_ENTRY : entryParts(declared, view);
      const sleeps = member === undefined ? undefined : sleeperDigest(member, backend, view);
      return { ...backend, ...entry.place, toolsLock: lock.held, sleeps, member, ...auth, entry };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface MemberLock {
  readonly held?: HeldLock | undefined;
  readonly fault?: { readonly fault: string };
}

/**
 * Returns the tools lock that the virtual server must check. If the virtual server calls the member's own proxy, the
 * proxy checks the lock.
 */
function memberLock(member: KubeObject | undefined, { url }: Pick<VmcpBackend, 'url'>, view: View): MemberLock {
  if (member === undefined) return {};
  const isBehindProxy = entryOf(member) === undefined && withoutFragment(memberPlace(member, view)?.url) === url;
  const fault = isBehindProxy ? undefined : toolsLockFault(member, view);
  if (fault !== undefined) return { fault: { fault: fault.message } };
  return isBehindProxy ? {} : { held: toolsLock(member, view) };
}

/**
 * Returns a digest of a member that its own proxy stops and starts; undefined if the member always runs, or if the
 * virtual server does not call this proxy.
 */
function sleeperDigest(member: KubeObject, { url }: Pick<VmcpBackend, 'url'>, view: View): string | undefined {
  if (!isSleeper(member) || withoutFragment(memberPlace(member, view)?.url) !== url) return undefined;
  return digest({ spec: member.spec ?? null });
}

/** Removes the fragment of a URL, which is never sent. */
function withoutFragment(url: string | undefined): string | undefined {
  return url?.replace(/#.*$/, '');
}

const KINDS: ReadonlyMap<string, { readonly kind: Kind; readonly type: string }> = new Map([
  ['MCPServer', { kind: MCPServer, type: 'mcp_server' }],
  ['MCPRemoteProxy', { kind: MCPRemoteProxy, type: 'remote_proxy' }],
]);

/**
 * Returns a member as a backend, from its manifest only: each change of its status would change the virtual server's
 * configuration.
 */
function listed(member: KubeObject, view: View): readonly VmcpBackend[] {
  const place = memberPlace(member, view);
  if (place === undefined) return [];
  const { name, namespace = '', annotations = {} } = member.metadata;
  const own = Object.entries(annotations).filter(([key]) => !isMachinery(key));
  const metadata = {
    ...Object.fromEntries(own),
    tool_type: 'mcp',
    workload_type: place.type,
    namespace,
    ...(place.remoteUrl === undefined ? {} : { remote_url: place.remoteUrl }),
  };
  const url = withoutFragment(place.url) ?? '';
  return [{ name, url, transport: place.transport === 'sse' ? 'sse' : 'streamable-http', metadata }];
}

interface BackendLocation {
  readonly type: string;
  readonly url: string;
  readonly transport: string;
  readonly remoteUrl?: string;
}

/** Returns the address and the type of the member; undefined if the member has no endpoint. */
function memberPlace(member: KubeObject, view: View): BackendLocation | undefined {
  const entry = entryOf(member);
  if (entry !== undefined) {
    const { remoteUrl, transport } = specOfEntry(entry);
    return { type: 'server_entry', url: remoteUrl, transport, remoteUrl };
  }
  const known = KINDS.get(member.kind);
  const [endpoint] = known?.kind.exposes(member as Resource, view) ?? [];
  if (known === undefined || endpoint === undefined) return undefined;
  const { url, transport } = endpoint;
  if (member.kind !== 'MCPRemoteProxy' || !isObject(member.spec)) return { type: known.type, url, transport };
  return { type: known.type, url, transport, remoteUrl: readRemoteProxy(member.spec).remoteURL };
}

function entryOf(member: KubeObject | undefined): KubeObject | undefined {
  return member?.kind === 'MCPServerEntry' ? member : undefined;
}

/** Returns true if the annotation belongs to Kubernetes, ToolHive or skep. */
function isMachinery(key: string): boolean {
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : '';
  return /(^|\.)(kubernetes\.io|k8s\.io|toolhive\.stacklok\.(dev|io)|skep\.dev)$/.test(domain);
}

type Settled = Pick<Backend, 'by' | 'auth' | 'authConfig'>;

/**
 * Settings for the backend in the virtual server take precedence over the member's settings, which take precedence over
 * the default (virtual server document, Authentication, 3).
 */
function settled(spec: Spec, view: View, name: string, member: KubeObject | undefined): Settled {
  const { outgoingAuth, config } = spec;
  const own = ownConfig(member);
  const entry = entryOf(member);
  const place = entry === undefined ? undefined : specOfEntry(entry).remoteUrl;
  const named = (by: Settled['by'], authConfig: string): Settled => {
    return { by, authConfig, auth: withKnownProvider(strategyOf(authConfig, view, place), spec.authServerConfig) };
  };
  const asked = outgoingSource(spec) === 'discovered' && own !== undefined;
  if (outgoingAuth === undefined && config.outgoingAuth !== undefined) {
    const { backends, default: fallback } = config.outgoingAuth;
    const written = backends?.[name];
    const model = (found: Parameters<typeof modelStrategy>[0]) =>
      withKnownProvider(modelStrategy(found), spec.authServerConfig);
    if (written !== undefined) return { by: 'backend', auth: model(written) };
    if (asked) return named('discovered', own);
    return fallback === undefined ? NOBODY : { by: 'default', auth: model(fallback) };
  }
  const said = outgoingAuth?.backends?.[name];
  if (said?.externalAuthConfigRef !== undefined) return named('backend', said.externalAuthConfigRef.name);
  // The manifest can choose a single member's settings, even if the source is inline.
  if (own !== undefined && (asked || said !== undefined)) return named('discovered', own);
  const fallback = said === undefined ? outgoingAuth?.default?.externalAuthConfigRef : undefined;
  return fallback === undefined ? NOBODY : named('default', fallback.name);
}

const NOBODY: Settled = { by: 'nobody', auth: { strategy: { type: 'unauthenticated' }, env: [] } };

function ownConfig(member: KubeObject | undefined): string | undefined {
  const spec: JsonObject = isObject(member?.spec) ? member.spec : {};
  const ref = isObject(spec.externalAuthConfigRef) ? spec.externalAuthConfigRef : {};
  return typeof ref.name === 'string' ? ref.name : undefined;
}

/** Returns the backends that can be called, without fields that only the reconciler uses. */
export function callable(backends: readonly Backend[]): {
  listed: VmcpBackend[];
  strategies: Record<string, Strategy>;
  env: Env[];
  /** Certificates to mount, including `readOnce`. */
  bundles: Bundle[];
  /** Certificates that the server reads only once. */
  readOnce: Bundle[];
} {
  const sound = backends.flatMap((backend) => {
    const {
      name,
      url,
      transport,
      metadata,
      headerForward,
      caBundlePath,
      toolsLock: lock,
      sleeps,
      auth,
      entry,
    } = backend;
    if ('fault' in auth) return [];
    const listed = { name, url, transport, metadata, headerForward, caBundlePath, toolsLock: lock, sleeps };
    return [{ listed, auth, entry }];
  });
  const readOnce = sound.flatMap(({ entry }) => entry.bundle ?? []);
  return {
    listed: sound.map(({ listed }) => listed),
    strategies: Object.fromEntries(sound.map(({ listed, auth }) => [listed.name, auth.strategy])),
    bundles: [...sound.flatMap(({ auth }) => auth.bundle ?? []), ...readOnce],
    readOnce,
    env: sound.flatMap(({ auth, entry }) => [...auth.env, ...entry.env]).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

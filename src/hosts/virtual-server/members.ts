// Opens the servers that a virtual server's configuration lists, each with its connection, its credentials and its
// health. When the configuration changes, only changed servers are opened again.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import { bridgeEras } from '#gateway/backends/bridge/bridge.ts';
import { createHttpBackend } from '#gateway/backends/http.ts';
import type { Upstream } from '#gateway/backends/ports.ts';
import type { BackendObserver } from '#gateway/backends/sessions/observer.ts';
import { createSseBackend } from '#gateway/backends/sse/backend.ts';
import {
  credentialOfBackend,
  isPerCaller,
  needsProvider,
  type StrategyPorts,
  strategyAt,
} from '#gateway/credentials/of-strategy.ts';
import { createMemberHealth } from '#gateway/virtual-server/health/member-health.ts';
import type { Member, Members } from '#gateway/virtual-server/members/member.ts';
import { healthTimes, timeoutOf } from '#gateway/virtual-server/settings.ts';
import type { SessionSeal } from '#gateway/wire/seal.ts';
import { jsonEquals } from '#std/json.ts';
import { proxyClock } from '../proxy/clock.ts';
import type { MemberLocks } from './member-locks.ts';

export interface MemberParts {
  readonly upstream: Upstream;
  /** Opens connections that also trust the certificates in the PEM file. Throws Failure `outbound-ca-invalid`. */
  readonly openTrusting: (caFile: string) => Upstream;
  readonly seal: SessionSeal;
  readonly observer: BackendObserver;
  /** Name that is unique among replicas and restarts. */
  readonly replica: string;
  readonly credentials: StrategyPorts;
  readonly messageBytes: number;
  readonly locks: Pick<MemberLocks, 'open' | 'use'>;
  /** Called after the health of a member has changed. */
  readonly changed: () => void;
}

export interface ListedMembers extends Members {
  /**
   * Opens the changed members of a new configuration. The returned function switches to the new members, and closes
   * members that are no longer used. Throws a Failure if a member cannot be opened.
   */
  prepare(config: VmcpConfig): () => void;
}

type Listed = VmcpConfig['backends'][number];

interface Opened {
  readonly member: Member;
  /** Settings from which the member was created, to detect changes. */
  readonly facts: unknown;
}

/** Throws a Failure if a member cannot be opened. */
export function openMembers(config: VmcpConfig, parts: MemberParts): ListedMembers {
  let opened = openAll(config, parts, new Map());
  let all = membersOf(opened);
  parts.locks.use(all);

  return {
    all: () => all,
    find: (name) => opened.get(name)?.member,
    prepare(next) {
      const before = opened;
      const after = openAll(next, parts, before);
      return () => {
        opened = after;
        all = membersOf(after);
        closeOthers(before, after);
        parts.locks.use(all);
      };
    },
  };
}

function membersOf(opened: ReadonlyMap<string, Opened>): readonly Member[] {
  return [...opened.values()].map(({ member }) => member);
}

/** Closes members in `list` that are not in `other`. */
function closeOthers(list: ReadonlyMap<string, Opened>, other: ReadonlyMap<string, Opened>): void {
  for (const [name, { member }] of list) {
    if (other.get(name)?.member !== member) void member.backend.close(0);
  }
}

/**
 * Opens all members, and reuses unchanged members of `before`. If a member cannot be opened, closes the newly opened
 * members.
 */
function openAll(config: VmcpConfig, parts: MemberParts, before: ReadonlyMap<string, Opened>): Map<string, Opened> {
  const opened = new Map<string, Opened>();
  try {
    for (const listed of config.backends) {
      const { name, metadata: _metadata, ...place } = listed;
      const strategy = strategyAt(config, name);
      const times = { timeoutMs: timeoutOf(config, name), health: healthTimes(config) };
      const facts = { place, strategy, ...times, perCaller: isForEachCaller(config, strategy) };
      const known = before.get(name);
      const isSame = known !== undefined && jsonEquals(known.facts, facts);
      opened.set(name, isSame ? known : { member: openMember(config, listed, parts), facts });
    }
    return opened;
  } catch (fault) {
    closeOthers(opened, before);
    throw fault;
  }
}

function openMember(config: VmcpConfig, listed: Listed, parts: MemberParts): Member {
  const { name, url, transport } = listed;
  const strategy = strategyAt(config, name);
  const timeoutMs = timeoutOf(config, name);
  // Comes first because it throws if a secret is missing: no connection is open yet.
  const credential = credentialOfBackend(listed, config, parts.credentials);
  return {
    name,
    url,
    transport,
    backend: openBackend(listed, timeoutMs, parts),
    credential,
    authType: strategy.type,
    needsProvider: needsProvider(strategy),
    perCaller: isForEachCaller(config, strategy),
    timeoutMs,
    health: createMemberHealth(healthTimes(config), proxyClock, parts.changed),
    sleeps: listed.sleeps,
    lock: listed.toolsLock && parts.locks.open(listed.toolsLock),
  };
}

/** Returns true if a member may respond differently to each caller, because of the caller's rights or headers. */
function isForEachCaller({ passthroughHeaders = [] }: VmcpConfig, strategy: ReturnType<typeof strategyAt>): boolean {
  return passthroughHeaders.length > 0 || isPerCaller(strategy);
}

function openBackend(listed: Listed, timeoutMs: number, parts: MemberParts): Backend {
  const { caBundlePath } = listed;
  if (caBundlePath === undefined) return openOver(parts.upstream, listed, timeoutMs, parts);
  const upstream = parts.openTrusting(caBundlePath);
  const backend = openOver(upstream, listed, timeoutMs, parts);
  return {
    ...backend,
    async close(graceMs) {
      await backend.close(graceMs);
      await upstream.close();
    },
  };
}

function openOver(upstream: Upstream, { url, transport }: Listed, timeoutMs: number, parts: MemberParts): Backend {
  const { seal, observer, replica, messageBytes } = parts;
  const times = { firstByteMs: timeoutMs, idleMs: timeoutMs };
  const ports = { upstream, clock: proxyClock };
  const backend =
    transport === 'sse'
      ? createSseBackend(
          { url, ...times, messageBytes },
          { ...ports, observer, replica, limits: { silenceMs: timeoutMs } },
        )
      : createHttpBackend({ url, ...times }, ports);
  return bridgeEras(backend, { clock: proxyClock, seal }, { messageBytes, askMs: timeoutMs });
}

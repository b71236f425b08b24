// Opens the core of a virtual server: its members, their combined lists of tools, prompts and resources, and sessions.

import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Backend, Exchange } from '#gateway/backends/backend.ts';
import { bridgeEras } from '#gateway/backends/bridge/bridge.ts';
import { relayBackend } from '#gateway/backends/relay/backend.ts';
import type { Relay } from '#gateway/backends/relay/relay.ts';
import type { Health } from '#gateway/proxy/health.ts';
import { createCallerBytes } from '#gateway/virtual-server/calls/caller-bytes.ts';
import type { Offer } from '#gateway/virtual-server/catalogue/assemble.ts';
import { type Catalogue, createCatalogue } from '#gateway/virtual-server/catalogue/catalogue.ts';
import type { ListEntry } from '#gateway/virtual-server/catalogue/entries.ts';
import { listenToMembers } from '#gateway/virtual-server/catalogue/listening.ts';
import { watchMembers } from '#gateway/virtual-server/health/checks.ts';
import type { ReportedMember } from '#gateway/virtual-server/health/cluster-status.ts';
import { healthDocument, statusDocument } from '#gateway/virtual-server/health/status.ts';
import type { Member, Members } from '#gateway/virtual-server/members/member.ts';
import type { Optimizer } from '#gateway/virtual-server/optimizer/optimizer.ts';
import { optimizerSettings } from '#gateway/virtual-server/optimizer/settings.ts';
import type { Overview } from '#gateway/virtual-server/overview.ts';
import { createInnerCalls } from '#gateway/virtual-server/own-tools/inner-calls.ts';
import { ownMember, withOwnMember } from '#gateway/virtual-server/own-tools/own-member.ts';
import type { InnerCalls, OwnTools } from '#gateway/virtual-server/own-tools/ports.ts';
import { endMemberSessions } from '#gateway/virtual-server/sessions/open-member.ts';
import type { SessionStore } from '#gateway/virtual-server/sessions/ports.ts';
import { createSessions } from '#gateway/virtual-server/sessions/sessions.ts';
import { aggregationRules, healthTimes } from '#gateway/virtual-server/settings.ts';
import { createVirtualServer } from '#gateway/virtual-server/virtual-server.ts';
import { askingOf, type World } from '#gateway/virtual-server/world.ts';
import type { JsonObject } from '#std/json.ts';
import { proxyClock } from '../proxy/clock.ts';
import { VERSION } from '../version.ts';
import { reportNotices } from './item-reports.ts';
import { type MemberParts, openMembers } from './members.ts';

export interface VirtualWorld {
  readonly backend: Backend;
  readonly health: Health;
  readonly members: () => readonly ReportedMember[];
  readonly documents: Readonly<Record<string, () => JsonObject>>;
  /** Returns the list of tools that was last sent to the caller; undefined if no list is known. */
  readonly lastOffer: Catalogue['lastOffer'];
  /** Returns the state that the admin listener shows. */
  readonly overview: () => Pick<Overview, 'members' | 'offer' | 'resolution'>;
  /** Prepares a new configuration, and returns a function that applies it. Throws a Failure if it cannot be used. */
  prepare(config: VmcpConfig): () => void;
  stop(): void;
}

export interface WorldOptions {
  readonly config: VmcpConfig;
  readonly logger: Logger;
  readonly messageBytes: number;
  readonly members: Omit<MemberParts, 'changed'>;
  /** undefined if sessions stay in this replica. */
  readonly store: SessionStore | undefined;
  /** Called after the health of a member has changed. */
  readonly healthChanged: () => void;
  readonly denial: World['denial'];
  readonly permittedTools: World['permittedTools'];
  readonly limitInner: World['limitInner'];
  readonly optimizer: Optimizer;
  /** Receives each new combination of the members' lists. */
  readonly assembled: (offer: Offer) => void;
  /** Creates the server's own tools. If not set, the server has no tools of its own. */
  readonly ownTools?: (calls: InnerCalls) => OwnTools;
  /** If not set, only this replica reaches runs of its own tools. */
  readonly relay?: Relay;
}

/** Throws a Failure if a member cannot be opened. */
export function openWorld(options: WorldOptions): VirtualWorld {
  const { config, logger, messageBytes, optimizer } = options;
  let current = config;
  let rules = aggregationRules(config);
  const changed = () => {
    logger.debug({ backends: healthDocument(listed.all()).summary }, 'health of backends');
    options.healthChanged();
  };
  const listed = openMembers(config, { ...options.members, changed });
  const own = { tools: undefined, member: undefined } as OpenedOwnTools;
  const members = withOwnMember(listed, () => own.member);
  const catalogue = createCatalogue({
    members,
    clock: proxyClock,
    mode: () => current.operational.failureHandling.partialFailureMode,
    rules: () => rules,
    own: () => own.tools,
    optimized: optimizer.enabled,
    asking: (member, timeoutMs) => ({ ...askingOf({ clock: proxyClock, messageBytes }, member), timeoutMs }),
    observed: (member, entry) => reportReading(logger, member, entry),
    noticed: reportNotices(logger),
    assembled: reportOffers(options),
  });
  const world = createWorld(options, members, catalogue);
  openOwnTools(options, world, own);
  const listening = listenToMembers({ members, messageBytes, clock: proxyClock, changed: catalogue.doubt });
  const learning = learnAhead({ optimizer, members, catalogue });
  const checks = watchMembers({ members, catalogue, clock: proxyClock, times: () => healthTimes(current) });
  return {
    backend: createVirtualServer(world, () => members.all().some(({ health }) => health.usable())),
    health: openHealth(members, () => {
      if (!checks.complete()) return 'not every backend was asked yet';
      return learning.ready() ? undefined : 'the search over the tools is not built yet';
    }),
    members: () => listed.all().map(({ name, health }) => ({ name, report: health.report() })),
    documents: {
      '/status': () => statusDocument(members.all(), VERSION),
      '/api/backends/health': () => healthDocument(members.all()),
    },
    lastOffer: catalogue.lastOffer,
    overview: () => ({ members: members.all(), offer: catalogue.known(), resolution: rules.resolution }),
    prepare(next) {
      const search = optimizerSettings(next);
      const useMembers = listed.prepare(next);
      return () => {
        useMembers();
        optimizer.use(search);
        current = next;
        rules = aggregationRules(next);
        catalogue.renew();
        learning.renew();
        checks.renew();
        listening.renew();
      };
    },
    stop() {
      learning.stop();
      checks.stop();
      listening.stop();
    },
  };
}

/** Request without a caller. */
const ANYBODY: Exchange = { method: 'POST', era: 'stateless', path: '/', headers: {}, caller: '' };

/** Lists and embeds the tools that all callers see, so that the first search need not wait for this. */
function learnAhead({ optimizer, members, catalogue }: Pick<World, 'optimizer' | 'members' | 'catalogue'>) {
  let stop: (() => void) | undefined;
  const isShared = () => members.all().every(({ perCaller }) => !perCaller);
  function renew(): void {
    stop?.();
    stop = optimizer.enabled() && isShared() ? catalogue.watch(ANYBODY, () => undefined) : undefined;
  }
  renew();
  return { renew, ready: () => stop === undefined || optimizer.ready(), stop: () => stop?.() };
}

function createWorld(
  { config, logger, messageBytes, denial, permittedTools, limitInner, optimizer, store }: WorldOptions,
  members: Members,
  catalogue: Catalogue,
): World {
  const sessions = createSessions({
    clock: proxyClock,
    store,
    expired: (session) => endMemberSessions(world, session),
  });
  const world: World = {
    ...{ name: config.name, version: VERSION, clock: proxyClock, members, catalogue, sessions, messageBytes },
    ...{ denial, permittedTools, limitInner, optimizer, notifications: createCallerBytes() },
    log: (level, facts, message) => logger[level](facts, message),
  };
  return world;
}

interface OpenedOwnTools {
  tools: OwnTools | undefined;
  member: Member | undefined;
}

/** Opens the server's own tools, and bridges them so that stateless clients and clients with sessions can use them. */
function openOwnTools(
  { ownTools, members, messageBytes, relay }: WorldOptions,
  world: World,
  opened: OpenedOwnTools,
): void {
  if (ownTools === undefined) return;
  opened.tools = ownTools(createInnerCalls(world));
  const ports = { clock: proxyClock, seal: members.seal };
  const { backend } = opened.tools;
  const reached = relay === undefined ? backend : relayBackend(backend, relay);
  opened.member = ownMember(bridgeEras(reached, ports, { messageBytes }));
}

function reportReading(logger: Logger, { name }: Member, { fault }: ListEntry): void {
  if (fault === undefined) {
    logger.info({ backend: name }, 'the lists of a backend can be read');
    return;
  }
  const { reason, message, detail } = fault;
  logger.warn({ backend: name, reason, detail }, `the lists of a backend cannot be read: ${message}`);
}

/** Returns a function that passes on each offer, and logs the clashing names if they have changed. */
function reportOffers({ logger, assembled, optimizer }: WorldOptions): (offer: Offer) => void {
  let reported = '';
  return (offer) => {
    assembled(offer);
    const { clashes, outdone, searched } = offer;
    if (searched !== undefined) optimizer.learn(searched);
    if (clashes.join(' ') === reported) return;
    reported = clashes.join(' ');
    for (const name of clashes) {
      const tools = outdone.filter((tool) => tool.name === name).map(({ origin }) => origin);
      logger.warn({ code: 'vmcp-tools-clash', name, tools }, 'several tools of the backends want the same name');
    }
  };
}

/**
 * Returns the health of the server. The server is ready when every member has been checked once, and the tool search is
 * built. A failed member does not make the server unready, because the lists report the member.
 */
function openHealth(members: Members, incomplete: () => string | undefined): Health {
  let draining = false;
  return {
    unready: () => (draining ? 'the virtual MCP server is stopping' : incomplete()),
    report() {
      const { healthy, backends } = statusDocument(members.all(), VERSION);
      const timestamp = new Date(proxyClock.now()).toISOString();
      return { status: healthy === true ? 'healthy' : 'degraded', timestamp, version: { version: VERSION }, backends };
    },
    // The member that responds records the call.
    observed: () => undefined,
    drain() {
      draining = true;
    },
    stop: () => undefined,
  };
}

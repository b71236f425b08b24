// The inside of a virtual server: its members, what they offer together, sessions. Wires what the configuration asks for.

import type { Logger } from 'pino';
import type { Backend } from '../../../backends/backend.ts';
import type { VmcpConfig } from '../../../contracts/vmcp-config.ts';
import type { Health } from '../../../proxy/health.ts';
import type { JsonObject } from '../../../std/json.ts';
import type { Offer } from '../../../vmcp/catalogue/assemble.ts';
import { type Catalogue, createCatalogue } from '../../../vmcp/catalogue/catalogue.ts';
import { listenToMembers } from '../../../vmcp/catalogue/listening.ts';
import { watchMembers } from '../../../vmcp/health/checks.ts';
import { healthDocument, statusDocument } from '../../../vmcp/health/status.ts';
import { endMemberSessions } from '../../../vmcp/sessions/open-member.ts';
import { createSessions } from '../../../vmcp/sessions/sessions.ts';
import { aggregationRules, healthTimes } from '../../../vmcp/settings.ts';
import { createVirtualServer } from '../../../vmcp/virtual-server.ts';
import { askingOf, type World } from '../../../vmcp/world.ts';
import { VERSION } from '../../version.ts';
import { proxyClock } from '../proxy-clock.ts';
import { type MemberParts, openMembers } from './members.ts';

export interface VirtualWorld {
  readonly backend: Backend;
  readonly health: Health;
  readonly documents: Readonly<Record<string, () => JsonObject>>;
  /** Throws a Failure where the configuration cannot be used: nothing changes. */
  replace(config: VmcpConfig): void;
  stop(): void;
}

export interface WorldOptions {
  readonly config: VmcpConfig;
  readonly logger: Logger;
  readonly messageBytes: number;
  readonly members: Omit<MemberParts, 'changed'>;
}

/** Throws a Failure where a member cannot be used as it is configured. */
export function openWorld({ config, logger, messageBytes, members: parts }: WorldOptions): VirtualWorld {
  let current = config;
  let rules = aggregationRules(config);
  const changed = () => logger.debug({ backends: healthDocument(members.all()).summary }, 'health of backends');
  const members = openMembers(config, { ...parts, changed });
  const catalogue: Catalogue = createCatalogue({
    members,
    clock: proxyClock,
    mode: () => current.operational.failureHandling.partialFailureMode,
    rules: () => rules,
    asking: (member, timeoutMs) => ({ ...askingOf({ clock: proxyClock, messageBytes }, member), timeoutMs }),
    observed(member, { fault }) {
      if (fault === undefined) return;
      const { message, detail } = fault;
      logger.warn(
        { backend: member.name, reason: fault.reason, detail },
        `the lists of a backend cannot be read: ${message}`,
      );
    },
    assembled: (offer) => reportClashes(logger, offer),
  });
  const sessions = createSessions({
    clock: proxyClock,
    store: undefined,
    expired: (session) => endMemberSessions(world, session),
  });
  const world: World = {
    name: config.name,
    version: VERSION,
    clock: proxyClock,
    members,
    catalogue,
    sessions,
    messageBytes,
    log: (level, facts, message) => logger[level](facts, message),
  };
  const listening = listenToMembers({ members, messageBytes, clock: proxyClock, changed: catalogue.doubt });
  const checks = watchMembers({ members, catalogue, clock: proxyClock, ...healthTimes(config) });
  return {
    backend: createVirtualServer(world, () => members.all().some(({ health }) => health.usable())),
    health: openHealth(members, checks.complete),
    documents: {
      '/status': () => statusDocument(members.all(), VERSION),
      '/api/backends/health': () => healthDocument(members.all()),
    },
    replace(next) {
      members.replace(next);
      current = next;
      rules = aggregationRules(next);
      catalogue.renew();
      checks.renew();
      listening.renew();
    },
    stop() {
      checks.stop();
      listening.stop();
    },
  };
}

function reportClashes(logger: Logger, { clashes, outdone }: Offer): void {
  for (const name of clashes) {
    const tools = outdone.filter((tool) => tool.name === name).map(({ origin }) => origin);
    logger.warn({ code: 'vmcp-tools-clash', name, tools }, 'several tools of the backends want the same name');
  }
}

/** Ready once every member was asked: whether one answers is for the lists to say. */
function openHealth(members: ReturnType<typeof openMembers>, complete: () => boolean): Health {
  let draining = false;
  return {
    ready: () => complete() && !draining,
    report() {
      const { healthy, backends } = statusDocument(members.all(), VERSION);
      const timestamp = new Date(proxyClock.now()).toISOString();
      return { status: healthy === true ? 'healthy' : 'degraded', timestamp, version: { version: VERSION }, backends };
    },
    // What calls show is noted by the member that answers them.
    observed: () => undefined,
    drain() {
      draining = true;
    },
    stop: () => undefined,
  };
}

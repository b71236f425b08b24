// Makes a server available to clients of the session era and of the stateless era. Requests of the server's own era
// pass unchanged. Requests of the other era are translated.

import type { Answer, Backend, BackendFault, Era, Exchange, Flow } from '../backend.ts';
import { type BridgeContext, createLaterFlow, NO_FLOW } from './context.ts';
import { createStatelessDetector, type Detected, refusedInitialize, replay, spoke, tryInitialize } from './detect.ts';
import { createEraKnowledge, type EraKnowledge } from './eras.ts';
import { BRIDGE_LIMITS, type BridgeLimits, type BridgePorts } from './ports.ts';
import { isBridgeSession } from './session-client/identity.ts';
import { type SessionClients, serveSessionClients } from './session-client/serve.ts';
import { type StatelessClients, serveStatelessClients } from './stateless-client/serve.ts';

interface Bridge {
  readonly context: BridgeContext;
  readonly eras: EraKnowledge;
  readonly detectStateless: (exchange: Exchange) => Promise<Detected>;
  readonly sessionClients: SessionClients;
  readonly statelessClients: StatelessClients;
}

const BOTH: ReadonlySet<Era> = new Set<Era>(['session', 'stateless']);

export function bridgeEras(backend: Backend, ports: BridgePorts, limits?: Partial<BridgeLimits>): Backend {
  const bounds = { ...BRIDGE_LIMITS, ...limits };
  const eras = createEraKnowledge(ports.clock, bounds.eraMs);
  const context: BridgeContext = { backend, ports, limits: bounds, doubtEra: () => eras.doubt() };
  const bridge: Bridge = {
    context,
    eras,
    detectStateless: createStatelessDetector(context, eras),
    sessionClients: serveSessionClients(context),
    statelessClients: serveStatelessClients(context),
  };
  return {
    open: (exchange, answer) => routeExchange(bridge, exchange, answer),
    eras: () => BOTH,
    probe: () => backend.probe(),
    async close(graceMs) {
      bridge.sessionClients.close();
      await bridge.statelessClients.close();
      await backend.close(graceMs);
    },
  };
}

/**
 * Returns whether the server speaks the era, as configured or learned. undefined if the era of the server is unknown.
 */
function speaks({ context, eras }: Bridge, era: Era): boolean | undefined {
  const fixed = context.backend.eras();
  return fixed === undefined ? eras.speaks(era) : fixed.has(era);
}

function routeExchange(bridge: Bridge, exchange: Exchange, answer: Answer): Flow {
  return exchange.era === 'stateless' ? openStateless(bridge, exchange, answer) : openSession(bridge, exchange, answer);
}

function openStateless(bridge: Bridge, exchange: Exchange, answer: Answer): Flow {
  const { context, statelessClients } = bridge;
  switch (speaks(bridge, 'stateless')) {
    case true:
      return context.backend.open(exchange, watch(bridge, answer));
    case false:
      return statelessClients.open(exchange, answer);
    case undefined:
      return afterDetection(bridge, exchange, answer, (spoken) =>
        spoken ? context.backend.open(exchange, answer) : statelessClients.open(exchange, answer),
      );
  }
}

const UNKNOWN: BackendFault = { reason: 'session-unknown', message: 'the session is not known, or has ended' };

function openSession(bridge: Bridge, exchange: Exchange, answer: Answer): Flow {
  const { context, sessionClients } = bridge;
  const { session, message } = exchange;
  if (session !== undefined && isBridgeSession(session)) {
    if (speaks(bridge, 'stateless') !== false) return sessionClients.open(exchange, answer);
    answer.fail(UNKNOWN);
    return NO_FLOW;
  }
  const spoken = speaks(bridge, 'session');
  if (spoken === false) return sessionClients.open(exchange, answer);
  const begins = message?.kind === 'request' && message.method === 'initialize';
  if (spoken === true || !begins) return context.backend.open(exchange, begins ? watch(bridge, answer) : answer);
  return openUnknown(bridge, exchange, answer);
}

/** Sends the client's `initialize` to the server. The answer shows which era the server speaks. */
function openUnknown(bridge: Bridge, exchange: Exchange, answer: Answer): Flow {
  const { context, eras, detectStateless, sessionClients } = bridge;
  const flow = createLaterFlow();
  tryInitialize(context, eras, exchange).then(async (asked) => {
    const bridged = !spoke(asked) && refusedInitialize(asked) && (await isStateless(detectStateless(exchange)));
    if (bridged) eras.learn('session', false);
    if (flow.aborted()) return;
    if (bridged) flow.begin(sessionClients.open(exchange, answer));
    else replay(asked, answer);
  });
  return flow;
}

async function isStateless(detected: Promise<Detected>): Promise<boolean> {
  const result = await detected;
  return result.kind === 'known' && result.speaks;
}

function afterDetection(
  { context, detectStateless }: Bridge,
  exchange: Exchange,
  answer: Answer,
  proceed: (spoken: boolean) => Flow,
): Flow {
  const flow = createLaterFlow();
  detectStateless(exchange).then((detected) => {
    if (flow.aborted()) return;
    if (detected.kind === 'failed') answer.fail(detected.fault);
    else if (detected.kind === 'refused') flow.begin(context.backend.open(exchange, answer));
    else flow.begin(proceed(detected.speaks));
  });
  return flow;
}

/** Statuses that may mean that the server speaks the other era. Servers also use these statuses for other refusals. */
const DOUBTFUL: ReadonlySet<number> = new Set([400, 404, 405]);

function watch({ eras }: Bridge, answer: Answer): Answer {
  return {
    head(status, headers) {
      if (DOUBTFUL.has(status)) eras.doubt();
      answer.head(status, headers);
    },
    data: (chunk) => answer.data(chunk),
    end: () => answer.end(),
    fail: (fault) => answer.fail(fault),
  };
}

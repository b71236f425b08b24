// Serves `pods/attach` over WebSockets with Kubernetes' subprotocols v4.channel.k8s.io and v5.channel.k8s.io.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ApiContext } from '../api/context.ts';
import { containerOf } from '../api/pod-container.ts';
import { isTrue, parseResourcePath } from '../api/route.ts';
import { apiError, badRequest, notFound } from '../api/status.ts';
import type { CounterStore } from '../http/counters.ts';
import type { Faults } from '../http/faults.ts';
import { errorAnswer, refuseUpgrade } from '../http/respond.ts';
import { type AttachProtocol, serveChannels } from './channels.ts';
import type { ContainerName, ContainerOutput, ContainerRunner } from './containers.ts';

export interface AttachParts {
  readonly api: ApiContext;
  readonly counters: CounterStore;
  readonly faults: Faults;
  readonly containers: ContainerRunner;
  /** Offered subprotocols. Defaults to v4 and v5. */
  readonly protocols?: readonly AttachProtocol[];
}

/** Handles an upgrade request whose token was accepted. */
export type ServeUpgrade = (message: IncomingMessage, socket: Duplex, head: Buffer, url: URL) => void;

const PROTOCOLS: readonly AttachProtocol[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

export function openAttach(parts: AttachParts): ServeUpgrade {
  const spoken = parts.protocols ?? PROTOCOLS;
  // serveChannels answers pings: with v4 on behalf of the node, with v5 on behalf of the API server.
  const endpoint = new WebSocketServer({
    noServer: true,
    autoPong: false,
    handleProtocols: (offered) => [...offered].find((each) => spoken.some((known) => known === each)) ?? false,
  });

  return function serveUpgrade(message, socket, head, url) {
    try {
      const request = readAttach(parts, message, url, spoken);
      connectContainer(parts, endpoint, request, message, socket, head);
    } catch (error) {
      refuseUpgrade(socket, errorAnswer(error));
    }
  };
}

interface AttachRequest {
  readonly name: ContainerName;
  readonly protocol: AttachProtocol;
  readonly streams: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
}

function readAttach(
  parts: AttachParts,
  message: IncomingMessage,
  url: URL,
  spoken: readonly AttachProtocol[],
): AttachRequest {
  const path = parseResourcePath(url.pathname);
  const type = parts.api.types.find('', 'v1', 'pods');
  if (path?.plural !== 'pods' || path.group !== '' || path.subresource !== 'attach' || type === undefined) {
    throw apiError(404, 'NotFound', 'the server could not find the requested resource', {});
  }
  const { namespace = '', name = '' } = path;
  parts.counters.count({ verb: 'get', resource: 'pods/attach', dryRun: false, furtherPage: false });
  const fault = parts.faults.strike({
    verb: 'get',
    group: '',
    plural: 'pods',
    name,
    subresource: 'attach',
    dryRun: false,
  });
  if (fault !== undefined && 'status' in fault) throw apiError(fault.status, '', 'a fault that a test has injected');
  const pod = parts.api.store.get({ collection: type.collection, namespace, name });
  if (pod === undefined) throw notFound(type, name);
  const container = containerOf(pod, url.searchParams.get('container') ?? '');
  const streams = { stdin: has(url, 'stdin'), stdout: has(url, 'stdout'), stderr: has(url, 'stderr') };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  return { name: { namespace, pod: name, container }, protocol: protocolOf(message, spoken), streams };
}

function has(url: URL, name: string): boolean {
  return isTrue(url.searchParams.get(name));
}

function protocolOf(message: IncomingMessage, spoken: readonly AttachProtocol[]): AttachProtocol {
  const offered = (message.headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  // The WebSocket handshake also chooses the client's first supported protocol.
  const protocol = offered.flatMap((each) => spoken.filter((known) => known === each))[0];
  if (protocol !== undefined) return protocol;
  throw apiError(
    400,
    'BadRequest',
    `the server supports none of the subprotocols ${offered.join(', ')}; only ${spoken.join(', ')}`,
  );
}

/** Connects to the container. If no node runs it, v4 reports the error before the upgrade, v5 after the upgrade. */
function connectContainer(
  { containers }: AttachParts,
  endpoint: WebSocketServer,
  { name, protocol, streams }: AttachRequest,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const relay = createRelay();
  const connection = containers.connect(name, relay.output);
  if (connection === undefined && protocol === 'v4.channel.k8s.io') throw unreachableNode(name);
  endpoint.handleUpgrade(message, socket, head, (client) => {
    serveChannels(client, protocol, streams, connection, relay.use, unreachableNode(name).data);
  });
}

function unreachableNode({ container }: ContainerName) {
  const text = `error dialing backend: container ${container} does not run on any node`;
  return apiError(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] });
}

/** Buffers the container's output until the upgrade is complete. */
function createRelay(): { output: ContainerOutput; use: (output: ContainerOutput) => void } {
  let target: ContainerOutput | undefined;
  let early: ((output: ContainerOutput) => void)[] = [];
  function pass(event: (output: ContainerOutput) => void): void {
    if (target === undefined) early.push(event);
    else event(target);
  }
  return {
    output: {
      stdout: (chunk) => pass((output) => output.stdout(chunk)),
      stderr: (chunk) => pass((output) => output.stderr(chunk)),
      ended: (error) => pass((output) => output.ended(error)),
      lost: () => pass((output) => output.lost()),
    },
    use(output) {
      target = output;
      for (const event of early) event(output);
      early = [];
    },
  };
}

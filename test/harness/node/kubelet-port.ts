// Serves the `pods/attach` requests of an API server as a kubelet does, over WebSockets with v4.channel.k8s.io. The API
// server sends v5.channel.k8s.io only if the node declares support (KEP-4006). SPDY is not supported.

import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type AttachProtocol, serveChannels } from '#kubernetes/devcluster/attach/channels.ts';
import type { ContainerName, ContainerOutput, ContainerRunner } from '#kubernetes/devcluster/attach/containers.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';

export interface KubeletPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Feature that a node declares if it supports WebSockets with v5.channel.k8s.io. */
export const TAKES_V5 = 'ExtendWebSocketsToKubelet';
const PROTOCOLS: readonly AttachProtocol[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const DAY_MS = 86_400_000;

export async function openKubeletPort(containers: ContainerRunner): Promise<KubeletPort> {
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority('test-kubelet', validity);
  const { certificate, privateKey } = createServerCertificate(authority, 'test-kubelet', ['127.0.0.1'], validity);
  const server = createServer({ cert: certificate, key: privateKey }, (_request, response) => {
    response.writeHead(404).end();
  });
  const endpoint = new WebSocketServer({
    noServer: true,
    autoPong: false,
    handleProtocols: (offered) => PROTOCOLS.find((each) => offered.has(each)) ?? false,
  });
  const sockets = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
    const [, verb, namespace = '', pod = '', container = ''] = pathname.split('/');
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/,\s*/);
    if (verb !== 'attach' || !PROTOCOLS.some((each) => offered.includes(each))) {
      socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n', () => socket.destroy());
      return;
    }
    endpoint.handleUpgrade(request, socket, head, (client) => {
      serveContainer(client, containers, { namespace, pod, container }, searchParams);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

type Client = Parameters<typeof serveChannels>[0];

function serveContainer(
  client: Client,
  containers: ContainerRunner,
  name: ContainerName,
  asked: URLSearchParams,
): void {
  let target: ContainerOutput | undefined;
  const connection = containers.connect(name, {
    stdout: (chunk) => target?.stdout(chunk),
    stderr: (chunk) => target?.stderr(chunk),
    ended: (error) => target?.ended(error),
    lost: () => target?.lost(),
  });
  // The parameters of a kubelet have other names than those of an API server.
  const [stdin, stdout, stderr] = ['input', 'output', 'error'].map((stream) => asked.get(stream) === '1');
  const streams = { stdin: stdin === true, stdout: stdout === true, stderr: stderr === true };
  const failure = { metadata: {}, status: 'Failure', message: `container ${name.container} does not run` };
  const use = (output: ContainerOutput) => {
    // The API server reports a lost kubelet to the client, so this port only closes the connection.
    target = { ...output, lost: () => client.terminate() };
  };
  const protocol = PROTOCOLS.find((each) => each === client.protocol) ?? 'v4.channel.k8s.io';
  serveChannels(client, protocol, streams, connection, use, failure);
}

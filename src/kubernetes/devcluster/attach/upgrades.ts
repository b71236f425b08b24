// Serves the requests to a pod that upgrade from HTTP to another protocol: attached streams and forwarded ports.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { NO_EXEC } from '../api/pod-container.ts';
import { parseResourcePath, type ResourcePath } from '../api/route.ts';
import { badRequest, notFound } from '../api/status.ts';
import { errorAnswer, refuseUpgrade } from '../http/respond.ts';
import { type AttachParts, openAttach, type ServeUpgrade } from './endpoint.ts';
import { servePortForward } from './port-forward.ts';

/**
 * Returns the port of this machine for a port of a pod. undefined if the pod does not declare the port or does not run
 * on this machine.
 */
export type FindPodPort = (namespace: string, pod: string, port: number) => number | undefined;

const PODS = { group: '', plural: 'pods', kind: 'Pod' };
/** WebSocket subprotocol for SPDY inside WebSocket messages (KEP-4006). */
const TUNNEL = 'SPDY/3.1+portforward.k8s.io';
const STREAMS = 'portforward.k8s.io';

export function openUpgrades(parts: AttachParts, findPort: FindPodPort): ServeUpgrade {
  const attach = openAttach(parts);
  const tunnels = new WebSocketServer({ noServer: true, handleProtocols: () => TUNNEL });
  return function serveUpgrade(message, socket, head, url) {
    const path = parseResourcePath(url.pathname);
    if (path?.group !== '' || path.plural !== 'pods' || !isOurs(path)) return attach(message, socket, head, url);
    try {
      const { namespace = '', name = '' } = path;
      if (parts.api.store.get({ collection: '/pods', namespace, name }) === undefined) throw notFound(PODS, name);
      if (path.subresource === 'exec') throw badRequest(NO_EXEC);
      const find = (port: number) => findPort(namespace, name, port);
      const serve = (streams: Duplex) => servePortForward(streams, find);
      if (offersTunnel(message)) {
        tunnels.handleUpgrade(message, socket, head, (client) => serve(createWebSocketStream(client)));
        return;
      }
      if (message.headers.upgrade?.toUpperCase() !== 'SPDY/3.1') {
        throw badRequest(`ports are forwarded over SPDY/3.1, or over a WebSocket with the subprotocol ${TUNNEL}`);
      }
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${STREAMS}\r\n\r\n`,
      );
      if (head.length > 0) socket.unshift(head);
      serve(socket);
    } catch (error) {
      refuseUpgrade(socket, errorAnswer(error));
    }
  };
}

function isOurs({ subresource }: ResourcePath): boolean {
  return subresource === 'portforward' || subresource === 'exec';
}

function offersTunnel({ headers }: IncomingMessage): boolean {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  return headers.upgrade?.toLowerCase() === 'websocket' && offered.includes(TUNNEL);
}

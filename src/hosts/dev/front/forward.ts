// Forwards a request to the proxy of a server, and streams the response back.

import { Agent, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, request as send } from 'node:http';

export interface Forwarding {
  readonly namespace: string;
  readonly name: string;
  /** Port of the proxy on 127.0.0.1. */
  readonly port: number;
  /** Path and query of the forwarded request. */
  readonly target: string;
  /** Prefix that was removed from the path. The proxy needs the prefix for URLs that it sends to clients. */
  readonly prefix: string;
  /** If false, the request's token is not forwarded, because it was only for this listener. */
  readonly keepsToken: boolean;
}

export interface Forward {
  pass(forwarding: Forwarding, incoming: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

/** Headers that apply only to one connection (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

export function createForward(): Forward {
  const agent = new Agent({ keepAlive: true });
  return {
    pass(forwarding, incoming, response) {
      const { port, target: path } = forwarding;
      const headers = headersFor(forwarding, incoming);
      const { method } = incoming;
      const outgoing = send({ agent, host: '127.0.0.1', port, method, path, headers, setHost: false });
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
        response.flushHeaders();
        answer.pipe(response);
        // Closes the connection, so that clients notice that the response is incomplete.
        answer.once('error', () => response.destroy());
      });
      outgoing.once('error', () => refuseUnreachable(forwarding, response));
      incoming.once('error', () => outgoing.destroy());
      response.once('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    },
    close: () => agent.destroy(),
  };
}

function headersFor({ prefix, keepsToken }: Forwarding, incoming: IncomingMessage): OutgoingHttpHeaders {
  const { authorization, ...others } = withoutHops(incoming.headers);
  const own = Object.entries(others).filter(([name]) => !name.startsWith('x-forwarded-') && name !== 'forwarded');
  const chunked = incoming.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
  return {
    ...Object.fromEntries(own),
    ...(keepsToken && authorization !== undefined ? { authorization } : {}),
    ...chunked,
    'x-forwarded-prefix': prefix,
    'x-forwarded-for': incoming.socket.remoteAddress ?? '',
  };
}

function withoutHops(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

function refuseUnreachable({ namespace, name }: Forwarding, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const error = `the proxy of ${namespace}/${name} does not answer; kubectl get pods -n ${namespace} says why`;
  response.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' });
  response.end(`${JSON.stringify({ error })}\n`);
}

// Opens the WebSocket of `pods/attach` with the first subprotocol that the server supports.

import type { ClientRequest, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { Failure } from '#std/failure.ts';
import type { AttachCredentials, AttachOptions, AttachProtocol } from './options.ts';
import { attachRefusal, podPath, readBounded } from './refusal.ts';

const DEFAULT_PROTOCOLS: readonly AttachProtocol[] = ['v4.channel.k8s.io', 'v5.channel.k8s.io'];
const CONNECT_MS = 10_000;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Limit for received frames. API servers and kubelets send frames of 32 KiB. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** Returns an open, paused socket. Throws Failure `attach-refused`, `attach-unreachable`. */
export async function openSocket(
  options: AttachOptions,
  pod: string,
  credentials: AttachCredentials,
): Promise<WebSocket> {
  const protocols = options.protocols ?? DEFAULT_PROTOCOLS;
  let refused: unknown;
  for (const protocol of protocols) {
    try {
      return await connectSocket(options, pod, credentials, protocol);
    } catch (error) {
      if (!speaksAnother(error)) throw error;
      refused = error;
    }
  }
  throw refused;
}

function attachUrl({ server, namespace, container }: AttachOptions, pod: string): string {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'true', tty: 'false' });
  return `${server.replace(/^http/, 'ws')}${podPath(namespace, pod)}/attach?${query}`;
}

function connectSocket(
  options: AttachOptions,
  pod: string,
  { headers, tls }: AttachCredentials,
  protocol: AttachProtocol,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(attachUrl(options, pod), [protocol], {
      ...{ headers: { ...headers }, ...tls, handshakeTimeout: options.connectMs ?? CONNECT_MS },
      ...{ perMessageDeflate: false, followRedirects: false, maxPayload: MAX_FRAME_BYTES, skipUTF8Validation: true },
    });
    socket.once('open', () => {
      socket.off('error', fail);
      socket.pause();
      resolve(socket);
    });
    socket.once('error', fail);
    socket.once('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      readBounded(response, MAX_REFUSAL_BYTES)
        .then(
          (text) => reject(attachRefusal(status, text, pod)),
          (cause: Error) => reject(attachRefusal(status, cause.message, pod)),
        )
        .finally(() => request.destroy());
    });

    function fail(cause: Error): void {
      const another = /subprotocol/.test(cause.message);
      const message = `attaching to pod ${pod} failed: ${cause.message}`;
      reject(new Failure('attach-unreachable', message, { data: { pod, another }, cause, retryable: true }));
    }
  });
}

/**
 * True if the server does not support the subprotocol: it selected no subprotocol, or refused the request for this
 * reason.
 */
function speaksAnother(error: unknown): boolean {
  return error instanceof Failure && error.data.another === true;
}

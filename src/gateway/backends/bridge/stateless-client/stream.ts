// Opens the GET stream of a session at the server, one stream for all users of the session. Opens the stream again
// after a disconnection.

import type { Flow } from '../../backend.ts';
import { type BridgeContext, createLaterFlow } from '../context.ts';
import { readAnswer } from '../reading.ts';
import { type BackendSession, sessionGet } from './backend-session.ts';
import { dispatchMessage } from './dispatch.ts';

const RETRY_MS = 1000;
/** Delay before the next attempt if no stream began, for example because a gateway refused the GET (502, 503, 429). */
const REFUSED_RETRY_MS = 10_000;
/** Time limit for the answer to the GET. Some servers never answer a GET. */
const BEGIN_MS = 2000;

/** Opens the stream if it is not open. Resolves when the server accepts or refuses the stream, or after BEGIN_MS. */
export function ensureStream(context: BridgeContext, session: BackendSession, lost: () => void): Promise<void> {
  if (session.ended || session.stream.kind === 'refused') return Promise.resolve();
  if (session.stream.kind === 'open') return session.stream.begun;
  const flow = createLaterFlow();
  const begun = new Promise<void>((resolve) => {
    const stopTimer = context.ports.clock.after(BEGIN_MS, resolve);
    const ready = () => {
      stopTimer();
      resolve();
    };
    // The stream must be registered before its first message arrives.
    queueMicrotask(() => flow.begin(openStream(context, session, flow, lost, ready)));
  });
  session.stream = { kind: 'open', flow, begun };
  return begun;
}

function openStream(
  context: BridgeContext,
  session: BackendSession,
  own: Flow,
  lost: () => void,
  ready: () => void,
): Flow {
  let status = 0;
  let streaming = false;

  function over(unknown = status === 404): void {
    ready();
    if (session.ended || session.stream.kind !== 'open' || session.stream.flow !== own) return;
    session.stream = status === 405 ? { kind: 'refused' } : { kind: 'none' };
    if (unknown && session.id !== undefined) lost();
    if (unknown || status === 405) return;
    context.ports.clock.after(streaming ? RETRY_MS : REFUSED_RETRY_MS, () => {
      if (session.listeners.size > 0 || session.calls.size > 0) void ensureStream(context, session, lost);
    });
  }

  const answer = readAnswer(
    {
      head(code, _headers, streamed) {
        status = code;
        streaming = streamed;
        ready();
      },
      message: (bytes, message) => dispatchMessage(context, session, bytes, message),
      part: () => true,
      end: () => over(),
      fail({ reason }) {
        own.abort();
        over(status === 404 || reason === 'session-unknown');
      },
    },
    context.limits.messageBytes,
  );
  return context.backend.open(sessionGet(session, session.cause), answer);
}

// Opens one `subscriptions/listen` at a server of MCP 2026-07-28 for a client with sessions.

import type { JsonObject } from '#std/json.ts';
import { HEADERS } from '../../../wire/headers.ts';
import type { Message, NotificationMessage } from '../../../wire/message.ts';
import { LATEST_STATELESS_REVISION } from '../../../wire/revisions.ts';
import type { BackendFault, Exchange, Flow } from '../../backend.ts';
import { postExchange } from '../ask.ts';
import { createLaterFlow, uniqueText } from '../context.ts';
import { callMessage } from '../messages.ts';
import { readAnswer } from '../reading.ts';
import type { SessionClientContext } from './context.ts';
import type { ClientIdentity } from './identity.ts';
import { metaObject } from './request.ts';

export interface SubscriptionHandlers {
  acknowledged(): void;
  /** Handles a notification. Returns false if the client reads slowly. */
  notify(bytes: Buffer, message: NotificationMessage): boolean;
  /** Handles the end of the subscription. `fault` is set if the connection broke. */
  over(fault?: BackendFault): void;
}

const LISTEN_HEADERS = {
  [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION,
  [HEADERS.method]: 'subscriptions/listen',
};

/** Opens the subscription. Calls the handlers only after this function has returned. */
export function openSubscription(
  context: SessionClientContext,
  exchange: Exchange,
  identity: ClientIdentity,
  filter: JsonObject,
  handlers: SubscriptionHandlers,
): Flow {
  const params = `{"_meta":${metaObject(identity)},"notifications":${JSON.stringify(filter)}}`;
  const body = callMessage('subscriptions/listen', JSON.stringify(`skep-${uniqueText(context)}`), params);
  const flow = createLaterFlow();
  let flowing = true;

  function take(bytes: Buffer, message: Message): void {
    if (flow.aborted()) return;
    if (message.kind === 'response') handlers.over();
    else if (message.kind === 'request') return;
    else if (message.method === 'notifications/subscriptions/acknowledged') handlers.acknowledged();
    else flowing = handlers.notify(bytes, message) && flowing;
  }

  const answer = readAnswer(
    {
      head: () => undefined,
      message: take,
      part() {
        const goOn = flowing;
        flowing = true;
        return goOn;
      },
      end() {
        if (!flow.aborted()) handlers.over();
      },
      fail(fault) {
        if (flow.aborted()) return;
        flow.abort();
        handlers.over(fault);
      },
    },
    context.limits.messageBytes,
  );
  queueMicrotask(() => {
    if (!flow.aborted())
      flow.begin(context.backend.open(postExchange(exchange, 'stateless', body, LISTEN_HEADERS), answer));
  });
  return flow;
}

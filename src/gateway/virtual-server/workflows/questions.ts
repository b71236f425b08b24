// Sends questions of workflows to the person at the client (MCP, elicitation/create), and reads the answers.

import { isObject, type JsonObject, shownText } from '#std/json.ts';
import { callMessage, objectOf } from '../../backends/bridge/messages.ts';
import type { SessionHandlers } from '../../backends/sessions/link.ts';
import type { ResponseMessage } from '../../wire/message.ts';
import type { PersonAnswer } from './ports.ts';

export interface PersonQuestion {
  readonly message: string;
  readonly schema: JsonObject;
  /** JSON text of the id of the client's call that caused the question. */
  readonly call: string;
  readonly signal: AbortSignal;
}

export interface Questions {
  /** Reads from the client's capabilities whether the client can ask its user. */
  useCapabilities(capabilities: JsonObject): void;
  ask(question: PersonQuestion): Promise<PersonAnswer>;
  /**
   * Settles the question. Returns the JSON text of the id of the call that caused the question. Returns undefined if no
   * question has the id of the response.
   */
  answer(bytes: Buffer, response: ResponseMessage): string | undefined;
}

interface Open {
  readonly call: string;
  readonly settle: (answer: PersonAnswer) => void;
}

export function createQuestions(handlers: SessionHandlers): Questions {
  const open = new Map<string, Open>();
  let canAsk = false;
  let count = 0;
  return {
    useCapabilities({ elicitation }) {
      // A client that declares modes without `form` cannot show forms (MCP 2025-11-25).
      canAsk = isObject(elicitation) && (Object.keys(elicitation).length === 0 || elicitation.form !== undefined);
    },
    ask({ message, schema, call, signal }) {
      if (!canAsk)
        return Promise.resolve({ action: 'failed', message: 'the client cannot ask its user (elicitation)' });
      if (signal.aborted) return Promise.resolve({ action: 'cancel' });
      count += 1;
      const id = `"skep-ask-${count}"`;
      const { promise, resolve } = Promise.withResolvers<PersonAnswer>();
      const giveUp = () => {
        open.delete(id);
        const params = JSON.stringify({
          requestId: JSON.parse(id),
          reason: 'the caller no longer waits for the answer',
        });
        const bytes = callMessage('notifications/cancelled', undefined, params);
        handlers.message(bytes, { kind: 'notification', method: 'notifications/cancelled', call });
        resolve({ action: 'cancel' });
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const settle = (answer: PersonAnswer) => {
        signal.removeEventListener('abort', giveUp);
        open.delete(id);
        resolve(answer);
      };
      open.set(id, { call, settle });
      const params = JSON.stringify({ message, requestedSchema: schema });
      const asked = { kind: 'request', id, method: 'elicitation/create', call } as const;
      handlers.message(callMessage('elicitation/create', id, params), asked);
      return promise;
    },
    answer(bytes, response) {
      const found = open.get(response.id?.json ?? '');
      found?.settle(readAnswer(bytes, response));
      return found?.call;
    },
  };
}

function readAnswer(bytes: Buffer, { result, error }: ResponseMessage): PersonAnswer {
  if (result === undefined) {
    const { message } = objectOf(bytes, error);
    return { action: 'failed', message: `the client does not ask its user: ${shownText(message)}` };
  }
  const { action, content } = objectOf(bytes, result);
  if (action === 'accept') return { action, content: isObject(content) ? content : {} };
  if (action === 'decline' || action === 'cancel') return { action };
  return { action: 'failed', message: `the client sent an unknown answer: ${JSON.stringify(action)}` };
}

// Limits the subscriptions that are stored for one session, since the process stores them as long as the session
// exists.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { MessageId } from '../../wire/message.ts';

const SUBSCRIPTIONS_MAX = 1000;
/** Limit for all URIs together. A single URI may have the maximum length of a name. */
const CHARACTERS_MAX = 65_536;

/**
 * Returns the answer to a client with too many subscriptions, or undefined if the subscription fits. `uris` are the
 * session's existing subscriptions.
 */
export function refuseSubscription(uris: Iterable<string>, uri: string, id: MessageId): Buffer | undefined {
  let count = 1;
  let characters = uri.length;
  for (const each of uris) {
    if (each === uri) return undefined;
    count += 1;
    characters += each.length;
  }
  if (count <= SUBSCRIPTIONS_MAX && characters <= CHARACTERS_MAX) return undefined;
  const bounds = `at most ${SUBSCRIPTIONS_MAX} URIs with ${CHARACTERS_MAX} characters together`;
  return errorBody(id, ERRORS.internalError, `There are too many subscriptions in this session: it has ${bounds}.`);
}

// Limits the subscriptions of one session, because the process stores subscriptions as long as the session exists.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { MessageId } from '../../wire/message.ts';

const SUBSCRIPTIONS_MAX = 1000;
/** Maximum number of characters of all URIs together. One URI may use the maximum length of a name. */
const CHARACTERS_MAX = 65_536;

/**
 * Returns an error for a client with too many subscriptions. undefined if another subscription is allowed. `uris` are
 * the existing subscriptions of the session.
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

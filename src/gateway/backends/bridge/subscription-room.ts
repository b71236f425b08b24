// Limits the subscriptions that are remembered for one session: the process keeps them for as long as the session lives.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { MessageId } from '../../wire/message.ts';

const SUBSCRIPTIONS_MAX = 1000;
/** Of all URIs together. One alone may be of the size that a name may have. */
const CHARACTERS_MAX = 65_536;

/** The answer to a client that subscribes to too much; undefined if there is room. `uris`: the session has subscribed to them. */
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

// Chooses how the rules rewrite the answer to a request.

import type { Answer } from '../../backends/backend.ts';
import { heldShortly, keptStatus, rewriteAnswer, WATCH_NOTHING } from '../../backends/rewrite-answer.ts';
import type { LockReading } from '../../gate/tools-lock/keeper.ts';
import { watchResult } from '../../wire/large/text-watch.ts';
import type { Message } from '../../wire/message.ts';
import type { Caller } from '../caller.ts';
import { isListKey, listKeyOf, type Rules } from '../rules.ts';

interface Asked {
  readonly message: Message | undefined;
  readonly body: Buffer | undefined;
  readonly caller: Caller;
  readonly inSession: boolean;
  /** Set if the proxy reads the list to compare it with the tools lock. */
  readonly reading: LockReading | undefined;
}

interface ChangeParts {
  readonly rules: Rules;
  /** Maximum size of server messages that the proxy reads. Larger messages are refused. */
  readonly messageBytes: number;
}

/** Returns a wrapper that applies the rules to the answer, or undefined if no rule changes the answer. */
export function changeOf(
  { rules, messageBytes }: ChangeParts,
  { message, body, caller, inSession, reading }: Asked,
): ((answer: Answer) => Answer) | undefined {
  const rewrite = rules.answers(message, body, caller, reading);
  if (rewrite === undefined) return undefined;
  const isList = listKeyOf(message) !== undefined;
  // A result of a task method contains the task's id next to the result of the call.
  const isTask = message?.kind === 'request' && message.method.startsWith('tasks/');
  const watch = () => (rules.filters ? watchResult(isListKey) : WATCH_NOTHING);
  const size = isList || isTask ? { messageBytes } : heldShortly(messageBytes, watch);
  const options = { ...size, rewrite, kept: keptStatus(isList, inSession) };
  return (answer) => rewriteAnswer(answer, options);
}

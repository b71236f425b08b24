// Checks that a confirmed action is the action that the question to the user described.

import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { ConfirmationQuestion, OperatorToolCall } from './tool.ts';

export function digestOfQuestion({ message, command }: ConfirmationQuestion): string {
  return sha256(JSON.stringify([message, command]));
}

/**
 * Returns false if the user was not asked yet. Throws Failure `mcp-confirmation-changed` if the user has confirmed
 * another question. Also throws if the call was cancelled.
 */
export function isConfirmed(
  question: ConfirmationQuestion,
  { confirmed, signal }: Pick<OperatorToolCall, 'confirmed' | 'signal'>,
): boolean {
  if (confirmed === undefined) return false;
  if (digestOfQuestion(question) !== confirmed) {
    const message = 'what was confirmed is not what would be done now';
    throw new Failure('mcp-confirmation-changed', message, { data: { command: question.command } });
  }
  signal.throwIfAborted();
  return true;
}

// Binds the confirmation of a user to the question that they were shown.

import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { Question } from './tool.ts';

export function digestOfQuestion({ message, command }: Question): string {
  return sha256(JSON.stringify([message, command]));
}

/** Throws Failure `mcp-confirmation-changed` if the user has confirmed another question. */
export function checkConfirmed(question: Question, confirmed: string): void {
  if (digestOfQuestion(question) === confirmed) return;
  const message = 'what was confirmed is not what would be done now';
  throw new Failure('mcp-confirmation-changed', message, { data: { command: question.command } });
}

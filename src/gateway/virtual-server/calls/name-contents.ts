// Replaces the member's URI with the client's URI in the result of `resources/read`.

import type { Answer } from '../../backends/backend.ts';
import { isErrorStatus, rewriteAnswer } from '../../backends/rewrite-answer.ts';
import { listElements, type MemberSpan, objectMembers } from '../../wire/json-walk.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { jsonString, patchBytes } from '../../wire/patch.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';

/** Wraps the answer. `own` is the member's URI. An answer larger than `messageBytes` is refused. */
export function nameContents(
  answer: Answer,
  { method, target }: RequestMessage,
  own: string | undefined,
  messageBytes: number,
): Answer {
  const asked = target?.value;
  if (method !== 'resources/read' || asked === undefined || own === undefined || own === asked) return answer;
  const rewrite = (bytes: Buffer) => renameContents(bytes, own, asked);
  return rewriteAnswer(answer, { messageBytes, rewrite, kept: isErrorStatus });
}

function renameContents(bytes: Buffer, own: string, asked: string): Buffer {
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined) return bytes;
  const members = objectMembers(bytes, scanned.message.result.start) ?? [];
  const contents = members.find(({ key }) => key === 'contents');
  const items = (contents && listElements(bytes, contents.value.start)) ?? [];
  const uris = items.flatMap(({ start }) => (objectMembers(bytes, start) ?? []).filter((member) => isUri(member)));
  const patches = uris
    .filter(({ value }) => readValue(bytes, value) === own)
    .map(({ value }) => ({ span: value, bytes: jsonString(asked) }));
  return patchBytes(bytes, patches);
}

function isUri({ key }: MemberSpan): boolean {
  return key === 'uri';
}

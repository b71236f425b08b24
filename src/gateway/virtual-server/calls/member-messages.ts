// Converts a member's message for the client. Ids that the member chose get the member's name. Notifications of changed
// lists do not pass, because the virtual server has lists of its own.

import { renameSentTasks } from '../../wire/extensions/task-ids.ts';
import { messagePatches } from '../../wire/ids.ts';
import type { Message } from '../../wire/message.ts';
import { patchBytes } from '../../wire/patch.ts';
import { scanMessage } from '../../wire/scan.ts';
import { formatMemberId } from './member-ids.ts';
import { taskOfMember } from './name-tasks.ts';

export type ClientMessage =
  /**
   * `answers` is true for a response. `asks` is set for a request: the id of the response that the client will send, as
   * JSON text.
   */
  | { readonly kind: 'passes'; readonly bytes: Buffer; readonly answers?: boolean; readonly asks?: string }
  | { readonly kind: 'list-changed' }
  | { readonly kind: 'unreadable'; readonly reason: string };

const LISTS: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

/** Converts a message. Responses pass unchanged, since their id is the client's own. */
export function showMessage(member: string, bytes: Buffer): ClientMessage {
  if (!bytes.includes('"method"')) return { kind: 'passes', bytes, answers: true };
  const named = renameSentTasks(bytes, (id) => taskOfMember(member, id));
  const scanned = scanMessage(named);
  if (!scanned.ok) return { kind: 'unreadable', reason: scanned.fault.message };
  return showScanned(member, named, scanned.message);
}

function showScanned(member: string, bytes: Buffer, message: Message): ClientMessage {
  const name = (json: string | undefined) => (json === undefined ? undefined : formatMemberId({ member, id: json }));
  if (message.kind === 'response') return { kind: 'passes', bytes, answers: true };
  if (message.kind === 'request') {
    const asks = formatMemberId({ member, id: message.id.json });
    const progressToken = name(message.meta?.progressToken?.json);
    return { kind: 'passes', bytes: patchBytes(bytes, messagePatches(message, { id: asks, progressToken })), asks };
  }
  if (LISTS.has(message.method)) return { kind: 'list-changed' };
  if (message.method !== 'notifications/cancelled') return { kind: 'passes', bytes };
  const refersTo = name(message.refersTo?.json);
  return { kind: 'passes', bytes: patchBytes(bytes, messagePatches(message, { refersTo })) };
}

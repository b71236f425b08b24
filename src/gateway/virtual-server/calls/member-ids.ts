// Adds the member's name to ids that members choose: ids of different members then differ, and any replica can route
// the client's answer.

export interface MemberId {
  readonly member: string;
  /** The member's id: JSON text of a JSON-RPC id, or the id of an event. */
  readonly id: string;
}

export function formatMemberId({ member, id }: MemberId): string {
  return JSON.stringify(`${member} ${id}`);
}

/** Reads an id that `formatMemberId` created. Returns undefined for a text without a member. */
export function readMemberId(json: string): MemberId | undefined {
  if (!json.startsWith('"')) return undefined;
  return splitMemberId(JSON.parse(json));
}

/** Reads an id from text that is not JSON. */
export function splitMemberId(text: string): MemberId | undefined {
  const space = text.indexOf(' ');
  return space <= 0 ? undefined : { member: text.slice(0, space), id: text.slice(space + 1) };
}

const CALL = 'c.';
const LISTENER = 'l.';

/** Formats the id of an event in the stream that answers a call. */
export function formatCallEvent({ member, id }: MemberId): string {
  return CALL + Buffer.from(`${member} ${id}`).toString('base64url');
}

/** Formats the id of an event on a client's listening stream. The id contains the last event id of each member. */
export function formatListenerEvent(ids: ReadonlyMap<string, string>): string {
  return LISTENER + Buffer.from(JSON.stringify(Object.fromEntries(ids))).toString('base64url');
}

export type ReadEvent =
  | { readonly kind: 'call'; readonly at: MemberId }
  | { readonly kind: 'listener'; readonly ids: ReadonlyMap<string, string> };

/** Reads the id of an event. Returns undefined for a text in another format. */
export function readEventId(text: string): ReadEvent | undefined {
  const plain = Buffer.from(text.slice(CALL.length), 'base64url').toString();
  if (text.startsWith(CALL)) {
    const at = readMemberId(JSON.stringify(plain));
    return at === undefined ? undefined : { kind: 'call', at };
  }
  if (!text.startsWith(LISTENER)) return undefined;
  const ids = parseIds(plain);
  return ids === undefined ? undefined : { kind: 'listener', ids };
}

function parseIds(text: string): ReadonlyMap<string, string> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    return new Map(Object.entries(parsed).flatMap(([member, id]) => (typeof id === 'string' ? [[member, id]] : [])));
  } catch {
    return undefined;
  }
}

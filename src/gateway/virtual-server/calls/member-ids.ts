// Adds the name of the member to ids that members choose, so that any replica can route an answer, and ids of two
// members differ.

export interface MemberId {
  readonly member: string;
  /** Id at the member: JSON text of an id, or the id of an event. */
  readonly id: string;
}

/** Formats an id as JSON text. */
export function formatMemberId({ member, id }: MemberId): string {
  return JSON.stringify(`${member} ${id}`);
}

/** Returns undefined for a JSON text that `formatMemberId` did not create. */
export function readMemberId(json: string): MemberId | undefined {
  if (!json.startsWith('"')) return undefined;
  return splitMemberId(JSON.parse(json));
}

/** Reads the id from a plain text instead of JSON. */
export function splitMemberId(text: string): MemberId | undefined {
  const space = text.indexOf(' ');
  return space <= 0 ? undefined : { member: text.slice(0, space), id: text.slice(space + 1) };
}

const CALL = 'c.';
const LISTENER = 'l.';

/** Formats the id of an event in the answer to a call. */
export function formatCallEvent({ member, id }: MemberId): string {
  return CALL + Buffer.from(`${member} ${id}`).toString('base64url');
}

/** Formats the id of an event on a client's listening stream: the last id of each member. */
export function formatListenerEvent(ids: ReadonlyMap<string, string>): string {
  return LISTENER + Buffer.from(JSON.stringify(Object.fromEntries(ids))).toString('base64url');
}

export type ReadEvent =
  | { readonly kind: 'call'; readonly at: MemberId }
  | { readonly kind: 'listener'; readonly ids: ReadonlyMap<string, string> };

/** Reads the id of an event. Returns undefined for an id that was never issued. */
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

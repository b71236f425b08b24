// Reads the offer of one member: all pages of all its lists. Items keep their bytes, unless mend-item.ts repairs them.

import { doubtfulReason } from '#contracts/tool-lock/doubtful.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { BackendFault } from '../../backends/backend.ts';
import { type Asked, type Asking, ask, type Cause, postExchange } from '../../backends/bridge/ask.ts';
import { callMessage, objectOf } from '../../backends/bridge/messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../backends/bridge/protocol.ts';
import type { Lock } from '../../gate/tools-lock/lock.ts';
import { type AppMarks, readAppMarks, UNMARKED } from '../../wire/extensions/app-marks.ts';
import { APPS, SKILLS } from '../../wire/extensions/identifiers.ts';
import { HEADERS } from '../../wire/headers.ts';
import { type ListItem, listItems } from '../../wire/lists.ts';
import { LATEST_STATELESS_REVISION } from '../../wire/revisions.ts';
import { readValue } from '../../wire/scan.ts';
import { driftOf } from './drift.ts';
import { type ItemNotice, unreadableReason } from './item-notices.ts';
import { itemKey, LIST_NAMES, LISTS, type ListName } from './list-names.ts';
import { type Mended, mendItem } from './mend-item.ts';

/** An item of the member, without JSON members that clients would refuse. */
export interface OfferedItem {
  /** Name of a tool or prompt, URI of a resource or skill, or URI template. */
  readonly key: string;
  /** Page that contains the item. Spans of `item` are positions in this page. */
  readonly page: Buffer;
  readonly item: ListItem;
  /** Facts about user interfaces in the tool's `_meta`. Absent for other items. */
  readonly marks?: AppMarks;
}

export interface MemberLists {
  readonly capabilities: JsonObject;
  readonly lists: Readonly<Record<ListName, readonly OfferedItem[]>>;
}

export type ListsRead =
  | { readonly ok: true; readonly lists: MemberLists; readonly notices: readonly ItemNotice[] }
  | { readonly ok: false; readonly fault: BackendFault };

const PAGES_MAX = 1000;
const ITEMS_MAX = 20_000;
/** Maximum number of notices per list, since notices are stored with the list. */
const NOTICES_MAX = 1000;
const NAME_SHOWN = 200;
const TOO_MANY = `only ${ITEMS_MAX} are read: this one and those after it are not`;

/** MIME type of user interfaces that all clients with the extension can show (SEP-1865). */
const APP_TYPE = 'text/html;profile=mcp-app';

/**
 * Declares all capabilities, because servers may offer more to capable clients. The real capabilities of a client are
 * known only at a call.
 */
const META = JSON.stringify({
  [META_VERSION]: LATEST_STATELESS_REVISION,
  [META_CAPABILITIES]: {
    ...{ sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
    extensions: { [APPS]: { mimeTypes: [APP_TYPE] }, [SKILLS]: {} },
  },
  [META_CLIENT]: { name: 'skep', version: '1' },
});

/** Reads all lists. The time limit of one request in `allowed` applies to the whole reading. Never rejects. */
export async function readLists(allowed: Asking, cause: Cause, lock?: Lock): Promise<ListsRead> {
  const asking = endingTogether(allowed);
  const discovered = await request(asking, cause, 'server/discover', `{"_meta":${META}}`);
  if (!discovered.ok) return discovered;
  const { capabilities } = discovered.result;
  const offered = isObject(capabilities) ? capabilities : {};
  const named = LIST_NAMES.filter((name) => LISTS[name].isOffered(offered));
  const read = await Promise.all(
    named.map(async (name) => [name, await readPages(asking, cause, { name, lock })] as const),
  );
  const lists: Record<ListName, readonly OfferedItem[]> = {
    tools: [],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    skills: [],
  };
  const notices: ItemNotice[] = [];
  for (const [name, pages] of read) {
    if (!pages.ok) return pages;
    lists[name] = pages.items;
    notices.push(...pages.notices);
  }
  return { ok: true, lists: { capabilities: offered, lists }, notices };
}

/**
 * Applies one time limit to all requests together: a server that answers each page just in time could otherwise delay
 * the reading for hours.
 */
function endingTogether(asking: Asking): Asking {
  const { clock, timeoutMs } = asking;
  const end = clock.monotonic() + timeoutMs;
  return {
    ...asking,
    get timeoutMs() {
      return Math.max(1, end - clock.monotonic());
    },
  };
}

type Failed = { readonly ok: false; readonly fault: BackendFault };
type Requested = {
  readonly ok: true;
  readonly bytes: Buffer;
  readonly span: { start: number; end: number };
  readonly result: JsonObject;
};

async function request(
  asking: Asking,
  cause: Cause,
  method: string,
  params: string,
): Promise<Requested | Failed | NotFound> {
  const headers = { [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION, [HEADERS.method]: method };
  const body = callMessage(method, '"skep-lists"', params);
  return answerOf(method, await ask(asking, postExchange(cause, 'stateless', body, headers)));
}

/** Failure of a request. `missing` is true if the server does not implement the method. */
type NotFound = Failed & { readonly missing?: true };

const METHOD_NOT_FOUND = -32601;

function answerOf(method: string, asked: Asked): Requested | NotFound {
  if (!asked.ok) {
    const { fault } = asked;
    return { ok: false, fault: { ...fault, detail: `${method}: ${fault.detail ?? fault.message}` } };
  }
  const { bytes, message } = asked.response ?? {};
  if (bytes !== undefined && message?.result !== undefined) {
    return { ok: true, bytes, span: message.result, result: { ...objectOf(bytes, message.result) } };
  }
  const { code, message: words } = bytes === undefined ? {} : objectOf(bytes, message?.error);
  const detail = `${method}: status ${asked.status}${typeof words === 'string' ? `, ${words.slice(0, 200)}` : ''}`;
  if (code === METHOD_NOT_FOUND)
    return { ok: false, missing: true, fault: { reason: 'answer-invalid', message: detail, detail } };
  if (asked.status === 401 || asked.status === 403) {
    return { ok: false, fault: { reason: 'unauthorized', message: 'the MCP server refuses the credentials', detail } };
  }
  return {
    ok: false,
    fault: { reason: 'answer-invalid', message: 'the MCP server did not send one of its lists', detail },
  };
}

interface PagesRead {
  readonly ok: true;
  readonly items: readonly OfferedItem[];
  readonly notices: readonly ItemNotice[];
}

interface ReadOf {
  readonly name: ListName;
  readonly lock: Lock | undefined;
}

async function readPages(asking: Asking, cause: Cause, { name, lock }: ReadOf): Promise<PagesRead | Failed> {
  const items: OfferedItem[] = [];
  const notices: ItemNotice[] = [];
  const cursors = new Set<string>();
  const listed = new Set<string>();
  const differing = new Set<string>();
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? `{"_meta":${META}}` : `{"_meta":${META},"cursor":${JSON.stringify(cursor)}}`;
    const answer = await request(asking, cause, LISTS[name].method, params);
    // Servers may implement another draft of the extension for skills. A failure of this list must not hide the
    // member's tools.
    if (!answer.ok) return 'missing' in answer || name === 'skills' ? { ok: true, items: [], notices } : answer;
    const list = listItems(answer.bytes, answer.span, name);
    if (!list.ok) return { ok: false, fault: { ...UNREADABLE, detail: `${LISTS[name].method}: ${list.message}` } };
    for (const item of list.items) takeItem({ name, items, notices, lock, listed, differing }, answer.bytes, item);
    cursor = list.nextCursor === undefined ? undefined : cursorText(readValue(answer.bytes, list.nextCursor));
    // Ends the reading if a server repeats a page.
    if (cursor !== undefined && cursors.has(cursor)) cursor = undefined;
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined && cursors.size < PAGES_MAX && items.length < ITEMS_MAX);
  lock?.completed?.(name, { listed, differing });
  // If a list contains a name twice, the server may call either tool. Both tools are held back if one tool differs.
  const isHeld = lock?.mode === 'enforce' && differing.size > 0;
  return { ok: true, items: isHeld ? items.filter(({ key }) => !differing.has(key)) : items, notices };
}

interface Taken extends ReadOf {
  readonly items: OfferedItem[];
  readonly notices: ItemNotice[];
  readonly listed: Set<string>;
  /** Names whose definitions differ from the reviewed definitions. */
  readonly differing: Set<string>;
}

/**
 * Adds an item to the list. An item that clients would refuse is left out, because it would break the lists of all
 * members.
 */
function takeItem({ name: list, items, notices, lock, listed, differing }: Taken, page: Buffer, item: ListItem): void {
  const own = itemKey(list, item) ?? '';
  listed.add(own);
  const drift = lock && driftOf(lock, { list, name: own }, page, item);
  if (drift !== undefined) differing.add(own);
  if (drift !== undefined && notices.length < NOTICES_MAX) notices.push(drift);
  if (drift?.what === 'held-back') return;
  const mended = mendItem(list, page, item);
  const value = objectOf(mended?.page ?? page, mended?.item.span ?? item.span);
  const key = mended === undefined ? undefined : itemKey(list, mended.item);
  const name = (key ?? item.name?.value ?? '').slice(0, NAME_SHOWN);
  const notice = (what: ItemNotice['what'], why: string): void => {
    if (notices.length < NOTICES_MAX) notices.push({ list, name, what, why });
  };
  const marks = list === 'tools' && mended !== undefined ? readAppMarks(bytesOf(mended)) : UNMARKED;
  const unreadable =
    marks === undefined ? 'its _meta has a key that is not valid Unicode' : unreadableReason(list, value);
  const why = items.length === ITEMS_MAX ? TOO_MANY : unreadable;
  if (mended === undefined || key === undefined || why !== undefined) {
    const unnamed = mended === undefined ? 'it cannot be read without its null members' : 'it has no URI';
    if (notices.at(-1)?.why !== TOO_MANY) notice('left-out', why ?? unnamed);
    return;
  }
  items.push({ key, page: mended.page, item: mended.item, marks });
  if (mended.why !== undefined) notice('left-out', mended.why);
  const doubt = doubtfulReason(value);
  if (doubt !== undefined) notice('doubtful', doubt);
}

const bytesOf = ({ page, item: { span } }: Mended): Buffer => page.subarray(span.start, span.end);

const UNREADABLE: BackendFault = { reason: 'answer-invalid', message: 'a list of the MCP server cannot be read' };

function cursorText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

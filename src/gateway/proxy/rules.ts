// Applies the current rules to a message and to the server's answers. Rules are immutable: changed configuration files
// lead to new rules.

import { isObject } from '#std/json.ts';
import { passesInOnePiece, type RewriteMessage } from '../backends/rewrite-answer.ts';
import { filterList, type ListView } from '../gate/lists.ts';
import type { LockReading } from '../gate/tools-lock/keeper.ts';
import { lockedTarget } from '../gate/tools-lock/target.ts';
import { ERRORS, errorBody } from '../wire/errors.ts';
import { foldKey } from '../wire/json-members.ts';
import { listItems, listKeysIn } from '../wire/lists.ts';
import type { Message, MessageId, Scanned, Span } from '../wire/message.ts';
import { type FilteredKey, methodFacts } from '../wire/methods.ts';
import { readValue, scanMessage } from '../wire/scan.ts';
import { type AdmittedMessage, admit, claimsOf, type ListScope, type RefusedMessage, type RuleParts } from './admit.ts';
import type { Caller } from './caller.ts';
import { type AgreedLists, createAgreedLists, createAgreementNotes } from './lists/agreed.ts';
import { createPages, type Page, type Pages } from './lists/pages.ts';
import { rememberTasks, taskRewriting } from './tasks/answers.ts';

export interface Rules {
  /** True if callers may get shorter lists than the server sends. */
  readonly filters: boolean;
  /** Provider whose tokens policies read. undefined if policies read the caller's own token. */
  readonly upstreamProvider: string | undefined;
  /** Returns the list that the proxy must read before it decides. `scope` is the key of the session or caller. */
  needsList(message: Message, body: Buffer | undefined, caller: Caller, scope: string): NeededList | undefined;
  /** Begins the reading of a list. Returns undefined if the rules do not need the list. */
  beginReading(list: FilteredKey, scope: string): LockReading | undefined;
  admit(message: Message, body: Buffer, caller: Caller, lists?: ListScope): AdmittedMessage | RefusedMessage;
  /**
   * Returns the function that rewrites the answer's messages, or undefined if no rules apply. `message` is undefined
   * for a stream. The function searches every answer, because servers may send a list in any answer.
   */
  answers(
    message: Message | undefined,
    body: Buffer | undefined,
    caller: Caller,
    reading?: LockReading,
  ): RewriteMessage | undefined;
}

/**
 * A list that the proxy must read, and the reason. `hints`: policies need hints of a tool that the proxy does not have
 * yet. `lock`: the definition must be compared with the reviewed definition. `names`: only the list shows which tool a
 * name stands for. If the list cannot be read, calls that need `hints` or `lock` are refused.
 */
export interface NeededList {
  readonly need: 'hints' | 'lock' | 'names';
  readonly list: FilteredKey;
}

/** Returns whether a member of a result with this name is a list that the rules may filter. */
export function isListKey(name: string): boolean {
  return filteredKey(name) !== undefined;
}

export function createRules(parts: RuleParts): Rules {
  const { tools, policies, known, lock } = parts;
  const filters = tools !== undefined || policies !== undefined || lock !== undefined;
  const pages = createPages(known);
  // If policies exist, answers differ between callers, so answers that match the tools lock are not remembered.
  const agreed = lock !== undefined && policies === undefined ? createAgreedLists() : undefined;
  const named = rememberTasks();
  return {
    filters,
    upstreamProvider: policies?.upstreamProvider,
    needsList(message, _body, _caller, scope) {
      const locked = lock && lockedTarget(message, (name) => (tools === undefined ? name : tools.ownName(name)));
      if (locked !== undefined && lock?.needsReading(locked.list, locked.name, scope) === true)
        return { need: 'lock', list: locked.list };
      return needsHints(parts, message) ? { need: 'hints', list: 'tools' } : undefined;
    },
    beginReading: (list, scope) => lock?.beginReading(list, scope),
    admit: (message, body, caller, lists) => admit(parts, message, body, caller, lists),
    answers(message, body, caller, reading) {
      const lists = filters ? listRewriting({ parts, pages, reading, agreed }, message, body, caller) : undefined;
      const tasks = taskRewriting(parts, named, message, caller);
      if (lists === undefined || tasks === undefined) return lists ?? tasks;
      // `lists.passes` is called last, because it reports the definitions to the tools lock.
      const passes = (pieces: readonly Buffer[]) => tasks.passes?.(pieces) === true && lists.passes?.(pieces) === true;
      return Object.assign((bytes: Buffer) => tasks(lists(bytes)), { passes });
    },
  };
}

function needsHints({ tools, policies, known }: RuleParts, message: Message): boolean {
  if (policies?.readsHints !== true || message.kind !== 'request' || message.method !== 'tools/call') return false;
  const name = message.target?.value;
  if (name === undefined || (tools !== undefined && tools.ownName(name) === undefined)) return false;
  // A server may show a tool only to some callers, or may have added it recently.
  return !known.complete || known.hintsOf(name) === undefined;
}

interface ListParts {
  readonly parts: RuleParts;
  readonly pages: Pages;
  readonly reading: LockReading | undefined;
  readonly agreed: AgreedLists | undefined;
}

function listRewriting(
  { parts, pages, reading, agreed }: ListParts,
  message: Message | undefined,
  body: Buffer | undefined,
  caller: Caller,
): RewriteMessage {
  const { lock } = parts;
  const key = listKeyOf(message);
  if (key === undefined) return rewriteIfList({ parts, pages, reading }, caller);
  const view = viewFor(parts, reading, caller);
  const page = pages.pageOf(caller, message, body);
  const id = message?.kind === 'request' ? message.id : undefined;
  if (agreed === undefined || lock === undefined || id === undefined)
    return (bytes) => rewriteMessage(parts, view, { key, page }, bytes);
  const passes = (pieces: readonly Buffer[]) => agreed.passes(pieces, id, { lock, reading });
  function rewrite(bytes: Buffer): Buffer {
    const notes = createAgreementNotes();
    const unchanged = (answerId: MessageId | undefined) => {
      if (notes.names !== undefined) agreed?.keep(bytes, answerId, notes.names);
    };
    return rewriteMessage(parts, { ...view, compared: notes.add }, { key, page, unchanged }, bytes);
  }
  return Object.assign(rewrite, { passes });
}

/** Rewrites answers to requests for which no list is expected. Most answers pass after one search of their bytes. */
function rewriteIfList({ parts, pages, reading }: Omit<ListParts, 'agreed'>, caller: Caller): RewriteMessage {
  function rewrite(bytes: Buffer): Buffer {
    if (!mayHaveList(bytes)) return bytes;
    const view = viewFor(parts, reading, caller);
    return rewriteMessage(parts, view, { key: undefined, page: pages.pageOf(caller, undefined, undefined) }, bytes);
  }
  return Object.assign(rewrite, { passes: passesInOnePiece(mayHaveList) });
}

function viewFor(
  { tools, policies, known, lock }: RuleParts,
  reading: LockReading | undefined,
  caller: Caller,
): ListView {
  const claims = policies === undefined ? {} : claimsOf(caller, policies);
  return { claims, rules: tools, policies, known, lock, reading };
}

function mayHaveList(bytes: Buffer): boolean {
  return PERHAPS_LIST.test(bytes.toString('latin1'));
}

const FILTERED: readonly FilteredKey[] = ['tools', 'prompts', 'resources', 'resourceTemplates', 'skills'];

/** Compares keys without regard to case, by Unicode rules, as clients written in Go do. */
function filteredKey(key: string | undefined): FilteredKey | undefined {
  return key === undefined ? undefined : FOLDED.get(foldKey(key));
}

const FOLDED: ReadonlyMap<string, FilteredKey> = new Map(FILTERED.map((each) => [foldKey(each), each]));

/** Returns the key of the requested list, or undefined for other messages. */
export function listKeyOf(message: Message | undefined): FilteredKey | undefined {
  if (message?.kind !== 'request') return undefined;
  return filteredKey(methodFacts(message.method)?.resultKey);
}

/**
 * Matches every message that may contain a list or report a change. Also matches escapes, letters that some clients
 * fold to s, k and i (U+017F, U+212A, U+0130, U+0131), and UTF-16. The parser then reads or refuses these messages.
 */
const PERHAPS_LIST =
  /"(tools|prompts|resources|resourceTemplates|skills)"|\\u|\xc5\xbf|\xe2\x84\xaa|\xc4[\xb0\xb1]|\0|list_changed/i;

const LISTS_CHANGE = /^notifications\/(?:tools|prompts|resources)\/list_changed$/;

interface Requested {
  /** Key of the requested list. If undefined, the answer may still contain a list. */
  readonly key: FilteredKey | undefined;
  readonly page: Page;
  /** Receives the id of a response that no rule changed. */
  readonly unchanged?: (answerId: MessageId | undefined) => void;
}

/** Rewrites a message. If the rules filter lists, an unreadable message becomes an error. */
function rewriteMessage(parts: RuleParts, view: ListView, requested: Requested, bytes: Buffer): Buffer {
  const { key, page, unchanged } = requested;
  const scanned = scanMessage(bytes);
  if (!scanned.ok) return unreadList(parts, bytes, scanned.fault.id, scanned.fault.message);
  const { message } = scanned;
  if (message.kind === 'notification') {
    if (message.method === 'notifications/tools/list_changed') page.stale();
    if (LISTS_CHANGE.test(message.method)) parts.lock?.doubt();
  }
  if (message.kind !== 'response' || message.result === undefined) return bytes;
  const keys = new Set([...(key === undefined ? [] : [key]), ...keysIn(bytes, message.result)]);
  const rewritten = [...keys].reduce(
    (body, each) => filterKey(parts, view, each, page, { bytes: body, scanned: body === bytes ? scanned : undefined }),
    bytes,
  );
  if (rewritten === bytes) unchanged?.(message.id);
  return rewritten;
}

interface ScannedBytes {
  readonly bytes: Buffer;
  /** Absent if the rules have changed the bytes since the scan. */
  readonly scanned: Scanned | undefined;
}

function filterKey(
  parts: RuleParts,
  view: ListView,
  key: FilteredKey,
  page: Page,
  { bytes, scanned = scanMessage(bytes) }: ScannedBytes,
): Buffer {
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined) return bytes;
  const { id, result } = scanned.message;
  const filtered = filterList(bytes, result, key, view);
  if (!filtered.ok) return unreadList(parts, bytes, id, filtered.detail);
  if (key === 'tools') page.learned(filtered.lastPage ? undefined : nextCursorOf(bytes, result));
  return filtered.body;
}

function nextCursorOf(bytes: Buffer, result: Span): string | undefined {
  const list = listItems(bytes, result, 'tools');
  const next = list.ok && list.nextCursor !== undefined ? readValue(bytes, list.nextCursor) : undefined;
  return typeof next === 'string' ? next : undefined;
}

function keysIn(bytes: Buffer, result: Span): readonly FilteredKey[] {
  const keys = listKeysIn(bytes, result);
  if (keys !== undefined) return keys.flatMap((key) => filteredKey(key) ?? []);
  const value = readValue(bytes, result);
  return isObject(value) ? Object.keys(value).flatMap((key) => filteredKey(key) ?? []) : [];
}

function unreadList(
  { unreadable, tools, policies, lock }: RuleParts,
  bytes: Buffer,
  id: MessageId | undefined,
  detail: string,
): Buffer {
  unreadable(detail);
  const isFiltered = tools !== undefined || policies !== undefined || lock?.enforces === true;
  // A new buffer object marks the answer as changed, so that it is not remembered as an answer that matches the tools
  // lock.
  if (!isFiltered) return bytes.subarray();
  const message = 'The answer of the MCP server cannot be read, so its lists cannot be filtered.';
  return errorBody(id, ERRORS.internalError, message);
}

// Remembers list answers of a server in which every definition matched the tools lock. If the server sends the same
// bytes again, apart from the response id, the answer passes without being parsed.

import type { LockKeeper, LockReading } from '../../gate/tools-lock/keeper.ts';
import type { MessageId } from '../../wire/message.ts';
import type { FilteredKey } from '../../wire/methods.ts';

/** Names of the definitions in an answer, by list. */
type AgreedNames = ReadonlyMap<FilteredKey, readonly string[]>;

/** Collects the definitions of one answer while the tools lock compares them with the reviewed definitions. */
export interface AgreementNotes {
  add(list: FilteredKey, name: string, agrees: boolean): void;
  /** Names of the definitions. undefined if a definition differed. */
  readonly names: AgreedNames | undefined;
}

export interface AgreedLists {
  /**
   * Returns whether an equal answer is remembered. If true, reports to the tools lock and to the reading that the
   * definitions in the answer match.
   */
  passes(answer: Pieces, id: MessageId, readers: Readers): boolean;
  /**
   * Remembers an answer in which all definitions agreed and that no rule changed. `answerId` is the id of the response.
   */
  keep(bytes: Buffer, answerId: MessageId | undefined, names: AgreedNames): void;
}

/** An answer as received chunks. Joining the chunks of a long list takes longer than comparing them. */
type Pieces = readonly Buffer[];

interface Readers {
  readonly lock: Pick<LockKeeper, 'agreed'>;
  readonly reading: LockReading | undefined;
}

interface Kept {
  readonly names: AgreedNames;
  /** Bytes before the response id (`head`) and after it (`tail`). */
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Total size of the remembered answers: enough for some callers with different lists of several pages. */
const BYTES_MAX = 16 * 1024 * 1024;
const ANSWERS_MAX = 256;
/**
 * Number of bytes at the end of an answer that are part of its key. Answers of equal length mostly differ in the cursor
 * of the next page, which is among these bytes.
 */
const END_BYTES = 64;

export function createAgreedLists(): AgreedLists {
  const kept = new Map<string, Kept>();
  let bytesKept = 0;

  function remove(key: string): void {
    bytesKept -= keptBytes(kept.get(key));
    kept.delete(key);
  }

  return {
    passes(pieces, id, { lock, reading }) {
      const idBytes = Buffer.from(id.json);
      const found = kept.get(answerKey(pieces, idBytes.length));
      if (found === undefined || !haveSameBytes(pieces, [found.head, idBytes, found.tail])) return false;
      for (const [list, names] of found.names) lock.agreed(list, names, reading);
      return true;
    },
    keep(bytes, answerId, names) {
      if (answerId === undefined || bytes.length > BYTES_MAX) return;
      const { start, end } = answerId.span;
      const key = answerKey([bytes], end - start);
      remove(key);
      // Copied, because the received bytes may be part of a larger buffer, which would stay in memory.
      const copy = Buffer.from(bytes);
      kept.set(key, { names, head: copy.subarray(0, start), tail: copy.subarray(end) });
      bytesKept += keptBytes(kept.get(key));
      for (const oldest of kept.keys()) {
        if (bytesKept <= BYTES_MAX && kept.size <= ANSWERS_MAX) break;
        remove(oldest);
      }
    },
  };
}

function keptBytes(kept: Kept | undefined): number {
  return kept === undefined ? 0 : kept.head.length + kept.tail.length;
}

function answerKey(pieces: Pieces, idLength: number): string {
  const last = pieces.at(-1)?.subarray(-END_BYTES).toString('latin1') ?? '';
  return `${totalLength(pieces) - idLength} ${last}`;
}

function totalLength(pieces: Pieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Compares all bytes. The chunk borders may differ. */
function haveSameBytes(pieces: Pieces, expected: Pieces): boolean {
  if (totalLength(pieces) !== totalLength(expected)) return false;
  let start = 0;
  return pieces.every((piece) => {
    const isPiece = hasSameBytesFrom(start, piece, expected);
    start += piece.length;
    return isPiece;
  });
}

function hasSameBytesFrom(start: number, piece: Buffer, expected: Pieces): boolean {
  let at = 0;
  return expected.every((part) => {
    const [from, to] = [Math.max(start, at), Math.min(start + piece.length, at + part.length)];
    const isPart = from >= to || piece.subarray(from - start, to - start).equals(part.subarray(from - at, to - at));
    at += part.length;
    return isPart;
  });
}

export function createAgreementNotes(): AgreementNotes {
  const names = new Map<FilteredKey, string[]>();
  let differs = false;
  return {
    add(list, name, agrees) {
      differs ||= !agrees;
      const known = names.get(list);
      if (known === undefined) names.set(list, [name]);
      else known.push(name);
    },
    get names() {
      return differs ? undefined : names;
    },
  };
}

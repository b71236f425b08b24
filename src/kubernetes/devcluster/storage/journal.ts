// Stores the state on disk as JSON lines. A line is appended before the write is acknowledged. The file is rewritten
// when most lines are outdated. An incomplete last line, which a killed process left, is overwritten.

import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { keyOfObject, type StorageChange } from './change.ts';

const FORMAT = { journal: 'devcluster', version: 1 } as const;
const SYNC_EVERY_MS = 50;
/** Shorter journals are not rewritten. */
const REWRITE_FROM_LINES = 5_000;
/** Number of lines per existing object from which the journal is rewritten. */
const REWRITE_RATIO = 4;

interface Header {
  readonly journal: string;
  readonly version: number;
  /** Revision of the snapshot, which is the first part of the file. */
  readonly revision: number;
}

/** A line of the file: a change, or an object of the snapshot if `type` is absent. */
interface JournalLine {
  readonly type?: StorageChange['type'];
  readonly collection: string;
  readonly object: KubeObject;
}

interface Restored {
  /** Revision of the snapshot. Watches cannot start at an earlier revision. */
  readonly revision: number;
  readonly objects: readonly { readonly collection: string; readonly object: KubeObject }[];
  /** The changes after the snapshot, oldest first. */
  readonly changes: readonly Pick<StorageChange, 'type' | 'key' | 'object'>[];
}

export interface Journal {
  readonly restored: Restored;
  /** Appends a change. After it returns, the change survives the end of this process. */
  append(change: StorageChange): void;
  /** True if the file should be rewritten, given the number of existing objects. */
  bloated(objects: number): boolean;
  /** Replaces the file by a snapshot. */
  rewrite(revision: number, objects: Iterable<{ collection: string; object: KubeObject }>): void;
  close(): void;
}

/** Throws Failure `devcluster-state-broken` if the file is not a journal of this program. */
export function openJournal(dir: string): Journal {
  const path = join(dir, 'state.jsonl');
  if (!existsSync(path)) writeSnapshot(path, 0, []);
  const { restored, bytes, lines } = readJournal(path);
  const file = { fd: openSync(path, 'r+'), lines, position: bytes };
  const sync = batchedSync(() => file.fd);
  return {
    restored,
    append: (change) => {
      const line = Buffer.from(`${JSON.stringify(lineOf(change))}\n`);
      file.position += writeSync(file.fd, line, 0, line.length, file.position);
      file.lines += 1;
      sync.request();
    },
    bloated: (objects) => file.lines > Math.max(REWRITE_FROM_LINES, objects * REWRITE_RATIO),
    rewrite: (revision, objects) => {
      const snapshot = writeSnapshot(path, revision, objects);
      closeSync(file.fd);
      file.fd = openSync(path, 'r+');
      file.lines = snapshot.lines;
      file.position = snapshot.bytes;
    },
    close: () => {
      sync.stop();
      fsyncSync(file.fd);
      closeSync(file.fd);
    },
  };
}

function lineOf({ type, key, object }: StorageChange): JsonObject {
  return { type, collection: key.collection, object: object as JsonObject };
}

/** Writes a draft and renames it, so that a kill leaves either the old file or the new file. */
function writeSnapshot(path: string, revision: number, objects: Iterable<{ collection: string; object: KubeObject }>) {
  const draft = `${path}.draft`;
  // Removes a draft that a killed process left, or a symbolic link, so that the next write creates a new file.
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600);
  let bytes = writeSync(fd, `${JSON.stringify({ ...FORMAT, revision })}\n`);
  let lines = 1;
  for (const { collection, object } of objects) {
    bytes += writeSync(fd, `${JSON.stringify({ collection, object })}\n`);
    lines += 1;
  }
  fsyncSync(fd);
  closeSync(fd);
  renameSync(draft, path);
  return { bytes, lines };
}

function readJournal(path: string): { restored: Restored; bytes: number; lines: number } {
  const content = readFileSync(path);
  const whole = content.lastIndexOf(0x0a) + 1;
  const [first = '', ...rest] = content.toString('utf8', 0, whole).split('\n').slice(0, -1);
  const header = parseHeader(path, first);
  const objects: { collection: string; object: KubeObject }[] = [];
  const changes: Pick<StorageChange, 'type' | 'key' | 'object'>[] = [];
  rest.forEach((line, index) => {
    const entry = parseLine(path, index + 2, line);
    if (entry.type === undefined) objects.push({ collection: entry.collection, object: entry.object });
    else changes.push({ type: entry.type, key: keyOfObject(entry.collection, entry.object), object: entry.object });
  });
  return { restored: { revision: header.revision, objects, changes }, bytes: whole, lines: rest.length + 1 };
}

function parseHeader(path: string, line: string): Header {
  const value = parseJson(line);
  if (!isObject(value) || value.journal !== FORMAT.journal || value.version !== FORMAT.version) throw broken(path, 1);
  if (typeof value.revision !== 'number') throw broken(path, 1);
  return { ...FORMAT, revision: value.revision };
}

function parseLine(path: string, number: number, line: string): JournalLine {
  const value = parseJson(line);
  if (!isObject(value) || typeof value.collection !== 'string' || !isStored(value.object)) throw broken(path, number);
  const { type, collection, object } = value;
  if (type === undefined) return { collection, object };
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw broken(path, number);
  return { type, collection, object };
}

/** True if the value is an object. Only whole objects were written, so a check of the envelope suffices. */
function isStored(value: unknown): value is KubeObject {
  return isObject(value) && isObject(value.metadata) && typeof value.metadata.name === 'string';
}

function broken(path: string, line: number): Failure {
  const message = `${path}:${line}: not a line of a devcluster journal; move the state directory away to start with an empty one`;
  return new Failure('devcluster-state-broken', message, { data: { path, line } });
}

/** Syncs writes to disk after a short delay. Only a crash of the whole machine can lose them. */
function batchedSync(fd: () => number) {
  let timer: NodeJS.Timeout | undefined;
  return {
    request: () => {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        // A rewrite may have closed this descriptor. The rewrite has synced the content.
        fdatasync(fd(), () => undefined);
      }, SYNC_EVERY_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

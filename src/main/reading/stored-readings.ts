// What was read of manifests, kept in a file for the next process. Losing it costs time, never correctness: a file that is
// missing, torn, or of another program counts as empty. No entry that could hold a value of a Secret is written.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { holdsOpenings } from '../../reconcile/read/unseal.ts';
import { programDigest } from '../offline/program-digest.ts';
import { writeState } from '../state-file.ts';

export interface StoredReadings {
  /** All that is there; `get` gives undefined for what is not. */
  read(): Readings;
  /** In place of all that are there, unless nothing of what was `added` may be kept. Throws Failure `state-not-saved`. */
  write(entries: ReadonlyMap<string, unknown>, added: ReadonlySet<string>): Promise<void>;
}

export interface Readings {
  get(key: string): unknown;
}

/** A fleet of ten thousand servers has half of it. */
const CHARACTERS_MAX = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** `program`: what its readings are good for. */
export function openStoredReadings(path: string, program: () => string = programDigest): StoredReadings {
  return {
    read() {
      const stored = readStored(path, program());
      return {
        get(key) {
          const json = stored.get(key);
          return json === undefined ? undefined : JSON.parse(json.toString());
        },
      };
    },
    async write(entries, added) {
      if (![...added].some((key) => storedText(key, entries.get(key)) !== undefined)) return;
      const content = contentOf(entries);
      if (content.length > CHARACTERS_MAX) return;
      await writeState(path, `${checksumOf(program(), content)}\n${content}`);
    },
  };
}

/** Lines: a key as JSON, what is kept under it as JSON, the next key. */
function contentOf(entries: ReadonlyMap<string, unknown>): string {
  const lines: string[] = [];
  for (const [key, value] of entries) {
    const text = storedText(key, value);
    if (text !== undefined) lines.push(JSON.stringify(key), text);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** As JSON; undefined for what SOPS has opened, and for whatever names a Secret, as its kind or anywhere else. */
function storedText(key: string, value: unknown): string | undefined {
  if (value === undefined || holdsOpenings(key)) return undefined;
  const json = JSON.stringify(value);
  return json.includes('Secret') ? undefined : json;
}

/** Values as JSON: they are parsed once they are asked for. */
function readStored(path: string, program: string): ReadonlyMap<string, Buffer> {
  const entries = new Map<string, Buffer>();
  const bytes = bytesIn(path);
  const end = bytes.indexOf(NEWLINE);
  const content = bytes.subarray(end + 1);
  if (end < 0 || bytes.toString('latin1', 0, end) !== checksumOf(program, content)) return entries;
  for (let at = 0; at < content.length; ) {
    const endOfKey = content.indexOf(NEWLINE, at);
    const endOfValue = content.indexOf(NEWLINE, endOfKey + 1);
    entries.set(JSON.parse(content.toString('utf8', at, endOfKey)), content.subarray(endOfKey + 1, endOfValue));
    at = endOfValue + 1;
  }
  return entries;
}

function bytesIn(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return Buffer.alloc(0);
    throw error;
  }
}

function checksumOf(program: string, content: string | Buffer): string {
  return createHash('sha256').update(`${program}\n`).update(content).digest('hex');
}

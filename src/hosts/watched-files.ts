// Reads small files that may change while the process runs: mounted Secrets, policies, configuration.

import { readFileSync, statSync } from 'node:fs';
import { Failure } from '#std/failure.ts';
import { decodeFile } from '#std/utf8.ts';
import { systemClock } from './clock.ts';

/** Time during which a file is not read again. A mounted Secret takes up to a minute to change. */
const LOOK_AGAIN_MS = 1000;

export interface WatchedFiles {
  /**
   * Returns the text of the file, at most a second old. If the file can no longer be read, returns its last text.
   * Throws Failure `secret-file-unreadable` if the file has never been readable UTF-8 text.
   */
  read(path: string): string;
  /**
   * Returns the text of a settings file. Unlike `read`, throws Failure `secret-file-unreadable` if the current file is
   * not UTF-8 text, so that the fault is reported.
   */
  readSettings(path: string): string;
}

interface Known {
  readonly text: string;
  readonly mark: string;
  /** Reason why the current file is not text. `text` is then the last valid text. */
  readonly fault?: Failure;
  lookedAt: number;
}

export function createWatchedFiles(): WatchedFiles {
  const known = new Map<string, Known>();

  function lookAt(path: string): Known {
    const now = systemClock.monotonic();
    const last = known.get(path);
    if (last !== undefined && now - last.lookedAt < LOOK_AGAIN_MS) return last;
    const next = look(path, last, now);
    known.set(path, next);
    return next;
  }

  return {
    read: (path) => lookAt(path).text,
    readSettings(path) {
      const { text, fault } = lookAt(path);
      if (fault !== undefined) throw fault;
      return text;
    },
  };
}

function look(path: string, last: Known | undefined, lookedAt: number): Known {
  try {
    const mark = markOf(path);
    if (last?.mark === mark) return { ...last, lookedAt };
    const decoded = decodeFile(readFileSync(path));
    if ('text' in decoded) return { text: decoded.text, mark, lookedAt };
    const fault = new Failure('secret-file-unreadable', `${path}: ${decoded.fault}`, { data: { path } });
    if (last === undefined) throw fault;
    return { text: last.text, mark, fault, lookedAt };
  } catch (cause) {
    if (last !== undefined) return { ...last, lookedAt };
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `${path} cannot be read`, { data: { path }, cause });
  }
}

/**
 * Returns a text that changes whenever the file is replaced or its content changes. In a mounted volume, Kubernetes
 * replaces a link to a folder.
 */
function markOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

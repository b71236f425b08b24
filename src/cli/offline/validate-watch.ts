// Implements `skep validate --watch`: prints the whole result first, and the differences after each change.

import { setTimeout as delay } from 'node:timers/promises';
import { textOfChangedValidation } from '#reconciler/report/news.ts';
import type { ManifestValidation } from '#reconciler/run/validate.ts';
import { Failure } from '#std/failure.ts';
import { watchFolders } from './folder-watch.ts';

/**
 * Milliseconds without a change before a validation. Editors write a file in several steps, and Git writes many files.
 */
const QUIET_MS = 100;

export interface ValidateWatch {
  /** Returns the files and folders to watch. Called before each validation. */
  readonly paths: () => Promise<readonly string[]>;
  readonly validate: () => Promise<ManifestValidation>;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
  /** If aborted, ends the watch. */
  readonly signal: AbortSignal;
}

export async function watchValidation({ paths, validate, say, complain, signal }: ValidateWatch): Promise<void> {
  let last: ManifestValidation | undefined;
  let trouble = '';
  let close = (): void => undefined;
  try {
    while (!signal.aborted) {
      const changed = Promise.withResolvers<void>();
      let stale = false;
      const done = (): void => {
        stale = true;
        changed.resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      // The watch starts before the validation, so that changes during the validation are noticed.
      const opened = watchFolders(await paths(), done);
      close();
      close = opened;
      const now = await attempt(validate);
      if (now instanceof Failure) {
        // A file may have been deleted during the validation. This is not an error: the watch has noticed the deletion,
        // and the validation is repeated.
        if (!stale && trouble !== now.message) complain(`error ${now.code}: ${now.message}\n`);
        if (!stale) trouble = now.message;
      } else {
        trouble = '';
        const text = textOfChangedValidation(now, last);
        if (text !== '') say(text);
        last = now;
      }
      await changed.promise;
      signal.removeEventListener('abort', done);
      if (!signal.aborted) await delay(QUIET_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    close();
  }
}

async function attempt(validate: () => Promise<ManifestValidation>): Promise<ManifestValidation | Failure> {
  try {
    return await validate();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

// Reads the keys that seal session ids of a proxy, at the start and after changes of their files. All replicas have the
// same keys.

import type { RunConfig } from '#contracts/run-config.ts';
import { createSessionSeal, type SessionSeal } from '#gateway/wire/seal.ts';
import { Failure } from '#std/failure.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';

const KEY_BYTES_MIN = 32;

/**
 * Returns the keys in the files. If the configuration names no files, creates a random key. Other replicas, and this
 * process after a restart, then cannot open the session ids.
 */
export function readSessionKeys(
  { session_key_files: paths = [] }: RunConfig,
  files: Pick<WatchedFiles, 'read'>,
): readonly Buffer[] {
  const keys = paths.map((path) => sessionKey(path, files.read(path)));
  return keys.length === 0 ? [proxyClock.random(KEY_BYTES_MIN)] : keys;
}

function sessionKey(path: string, text: string): Buffer {
  const key = Buffer.from(text.trim());
  if (key.length >= KEY_BYTES_MIN) return key;
  throw new Failure('proxy-config-invalid', `${path} must hold at least ${KEY_BYTES_MIN} characters`, {
    data: { path },
  });
}

/**
 * Returns a seal that always uses the current keys of the files. If a file cannot be used, the last keys stay in use.
 * `keys`: keys at the start.
 */
export function watchSeal(config: RunConfig, files: Pick<WatchedFiles, 'read'>, keys: readonly Buffer[]): SessionSeal {
  const { session_key_files: paths = [] } = config;
  let texts = paths.map((path) => files.read(path));
  let current = createSessionSeal({ keys, random: proxyClock.random });

  function look(): SessionSeal {
    const now = paths.map((path) => files.read(path));
    const usable = now.every((text) => text.trim().length >= KEY_BYTES_MIN);
    if (!usable || now.every((text, index) => text === texts[index])) return current;
    texts = now;
    current = createSessionSeal({ keys: readSessionKeys(config, files), random: proxyClock.random });
    return current;
  }

  return {
    seal: (session) => look().seal(session),
    open: (text, caller) => look().open(text, caller),
  };
}

// Stores the login at one server, its registered client and tokens, in a file that only its owner can read.

import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { isObject, parseJson } from '#std/json.ts';

interface StoredLogin {
  /** URL of the server. A file with the URL of another server is ignored. */
  readonly server: string;
  /** Port of the redirect with which the client is registered. */
  readonly port?: number;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
}

export interface LoginFile {
  readonly path: string;
  /** Returns the stored login. Without a stored login, only `server` is set. */
  readonly read: () => Promise<StoredLogin>;
  readonly write: (login: StoredLogin) => Promise<void>;
}

/** Returns the folder for stored logins (XDG Base Directory Specification). */
export function stateFolder({ XDG_STATE_HOME, HOME }: NodeJS.ProcessEnv, home: string): string {
  const base = XDG_STATE_HOME?.startsWith('/') === true ? XDG_STATE_HOME : join(HOME ?? home, '.local', 'state');
  return join(base, 'skep', 'logins');
}

export function loginFile(folder: string, server: string): LoginFile {
  const path = join(folder, `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`);
  return {
    path,
    read: async () => {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return '';
      });
      const login = parseJson(text);
      // A damaged file is treated as empty, so that the user logs in again.
      return isObject(login) && login.server === server ? (login as { readonly server: string }) : { server };
    },
    write: async (login) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(path, `${JSON.stringify(login, null, 2)}\n`);
    },
  };
}

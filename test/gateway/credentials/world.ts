// Provides the dependencies of credentials for tests: the real outbound client, files in a temporary folder, a clock
// that tests advance, and recorded notices.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOutbound } from '#adapters/http/outbound.ts';
import type { CredentialCaller, OutgoingRequest } from '#gateway/credentials/credential.ts';
import type { CredentialPorts } from '#gateway/credentials/ports.ts';
import { Failure } from '#std/failure.ts';

export const START_MS = Date.UTC(2026, 0, 15, 12, 0, 0);

export interface World {
  readonly ports: CredentialPorts;
  readonly notices: { readonly code: string; readonly message: string }[];
  /** Writes a file and returns its path. */
  write(name: string, text: string): string;
  remove(path: string): void;
  advance(ms: number): void;
  close(): Promise<void>;
}

/** If set, `timeoutMs` replaces the timeout of all requests. */
export function startWorld(environment: Readonly<Record<string, string>> = {}, timeoutMs?: number): World {
  const folder = mkdtempSync(join(tmpdir(), 'skep-credentials-'));
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  const notices: World['notices'] = [];
  let passedMs = 0;
  return {
    notices,
    ports: {
      environment,
      fetch: (request) => outbound.request({ ...request, timeoutMs: timeoutMs ?? request.timeoutMs }),
      clock: { now: () => START_MS + passedMs, monotonic: () => 1_000 + passedMs },
      notify: (notice) => notices.push(notice),
      secretFiles: { read: readSecretFile },
    },
    write(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    remove: (path) => rmSync(path),
    advance(ms) {
      passedMs += ms;
    },
    async close() {
      rmSync(folder, { recursive: true });
      await outbound.close();
    },
  };
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Failure('credential-secret-missing', `${path} cannot be read`, { data: { path }, cause });
  }
}

export const ANONYMOUS: CredentialCaller = { key: 'anonymous', claims: {} };

/** Returns an MCP request to a server, before credentials are added. */
export function outgoing(headers: Readonly<Record<string, string>> = {}): OutgoingRequest {
  const url = 'https://mcp.example.com/mcp';
  return { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from('{}') };
}

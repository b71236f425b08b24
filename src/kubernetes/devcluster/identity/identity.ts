// Loads the server's keys and the admin's token from the state directory. The first start creates keys and token. A
// kubeconfig file passes the token to clients.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { isObject, parseJson } from '#std/json.ts';
import { writePrivately } from '../storage/private-file.ts';
import { createAuthority, createServerCertificate } from './certificate.ts';

const DAY_MS = 86_400_000;
const LIFETIME_MS = 3650 * DAY_MS;
const AUTHORITY_NAME = 'devcluster-ca';
const HOSTS = ['localhost', '127.0.0.1', 'kubernetes.default.svc'];

export interface Identity {
  /** PEM. */
  readonly authorityCertificate: string;
  readonly certificate: string;
  readonly privateKey: string;
  readonly token: string;
}

/**
 * Reads `identity.json` of the directory. Creates it (mode 0600) if missing. Throws Failure `devcluster-state-broken`.
 */
export async function loadIdentity(dir: string, now: number): Promise<Identity> {
  const file = join(dir, 'identity.json');
  const text = await readIfPresent(file);
  if (text !== undefined) return parseIdentity(file, text);
  const identity = createIdentity(now);
  await writePrivately(file, `${JSON.stringify(identity, null, 2)}\n`);
  return identity;
}

function createIdentity(now: number): Identity {
  const validity = { notBefore: now - DAY_MS, notAfter: now + LIFETIME_MS };
  const authority = createAuthority(AUTHORITY_NAME, validity);
  const server = createServerCertificate(authority, AUTHORITY_NAME, HOSTS, validity);
  return {
    authorityCertificate: authority.certificate,
    certificate: server.certificate,
    privateKey: server.privateKey,
    token: randomBytes(24).toString('base64url'),
  };
}

function parseIdentity(file: string, text: string): Identity {
  const value = parseJson(text);
  if (!isObject(value)) throw brokenIdentity(file);
  const { authorityCertificate, certificate, privateKey, token } = value;
  if (typeof authorityCertificate !== 'string' || typeof certificate !== 'string') throw brokenIdentity(file);
  if (typeof privateKey !== 'string' || typeof token !== 'string') throw brokenIdentity(file);
  return { authorityCertificate, certificate, privateKey, token };
}

function brokenIdentity(file: string): Failure {
  return new Failure('devcluster-state-broken', `${file} is not an identity file; remove it to create new keys`, {
    data: { file },
  });
}

/** Writes a kubeconfig (mode 0600) whose only context is the admin at `url`. Returns the file's path. */
export async function writeKubeconfig(dir: string, url: string, identity: Identity): Promise<string> {
  const path = join(dir, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'devcluster',
    clusters: [
      {
        name: 'devcluster',
        cluster: {
          server: url,
          'certificate-authority-data': Buffer.from(identity.authorityCertificate).toString('base64'),
        },
      },
    ],
    users: [{ name: 'devcluster-admin', user: { token: identity.token } }],
    contexts: [
      { name: 'devcluster', context: { cluster: 'devcluster', user: 'devcluster-admin', namespace: 'default' } },
    ],
  };
  await writePrivately(path, `${JSON.stringify(config, null, 2)}\n`);
  return path;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

// Creates a certificate authority with its PEM file, and a certificate that it signed for servers on 127.0.0.1.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';

export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface PrivateAuthority extends ServerCertificate {
  /** Path of the authority's certificate (PEM). */
  readonly file: string;
  remove(): void;
}

const DAY_MS = 86_400_000;

export function createPrivateAuthority(name: string): PrivateAuthority {
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority(name, validity);
  const { certificate: cert, privateKey: key } = createServerCertificate(authority, name, ['127.0.0.1'], validity);
  const folder = mkdtempSync(join(tmpdir(), 'skep-authority-'));
  const file = join(folder, 'ca.crt');
  writeFileSync(file, authority.certificate);
  return { cert, key, file, remove: () => rmSync(folder, { recursive: true }) };
}

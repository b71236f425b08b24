// Adds plain and secret headers to every request to a remote server.

import { type RunConfig, SECRET_ENV } from '#contracts/run-config.ts';
import { configFault } from './config-fault.ts';
import type { Credential } from './credential.ts';
import { headerValue, settableHeader } from './header-rules.ts';
import type { CredentialPorts } from './ports.ts';
import { createSecret } from './secret.ts';

type ForwardSettings = NonNullable<RunConfig['header_forward']>;
const POINTER = '/header_forward';

/**
 * Creates the credential. Secret values override plain values of the same header, and files override variables. Header
 * names are case-insensitive. Throws a Failure if the block or one of its secrets is not usable.
 */
export function headerForward(ports: CredentialPorts, block: ForwardSettings, pointer = POINTER): Credential {
  const plain = byLowerName(block.add_plaintext_headers, `${pointer}/add_plaintext_headers`);
  const variables = byLowerName(block.add_headers_from_secret, `${pointer}/add_headers_from_secret`);
  const files = byLowerName(block.add_headers_from_file, `${pointer}/add_headers_from_file`);
  const fixed = Object.fromEntries([
    ...[...plain].map(([name, text]) => [name, plainValue(name, text, pointer)] as const),
    ...[...variables]
      .filter(([name]) => !files.has(name))
      .map(([name, identifier]) => [name, secretValue(ports, identifier, pointer)()] as const),
  ]);
  const rotating = [...files].map(([name, file]) => {
    return { name, value: createSecret(ports, { pointer, file }, headerValue) };
  });
  return ({ headers }) => {
    if (rotating.length === 0) return { ok: true, headers: { ...headers, ...fixed } };
    const current = Object.fromEntries(rotating.map(({ name, value }) => [name, value()]));
    return { ok: true, headers: { ...headers, ...fixed, ...current } };
  };
}

/** Returns the values by header name in lower case. Throws a Failure if two names differ only in letter case. */
function byLowerName(
  headers: Readonly<Record<string, string>> | undefined,
  pointer: string,
): ReadonlyMap<string, string> {
  const byName = new Map<string, string>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = settableHeader(name, pointer);
    if (byName.has(lower)) throw configFault(pointer, `sets ${name} twice, with other letter case`);
    byName.set(lower, value);
  }
  return byName;
}

/** Validates a plain value. An empty value is allowed. */
function plainValue(name: string, text: string, pointer: string): string {
  const value = text === '' ? '' : headerValue(text);
  if (value !== undefined) return value;
  throw configFault(`${pointer}/add_plaintext_headers`, `gives ${name} a value that a header cannot carry`);
}

function secretValue(ports: CredentialPorts, identifier: string, pointer: string): () => string {
  const source = { pointer, variable: SECRET_ENV.forwardedHeader(identifier) };
  return createSecret(ports, source, headerValue);
}

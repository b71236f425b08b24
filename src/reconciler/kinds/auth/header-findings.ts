// Finds mistakes in headers that a proxy adds. A schema cannot find them, because it cannot check the keys of a map.

import { pointerToken } from '#std/json.ts';
import type { Finding, View } from '../kind.ts';
import { type ExternalAuthConfig, externalAuthConfig } from './external-auth-config.ts';
import type { HeaderForwarding } from './header-forward.ts';

interface HeaderField {
  readonly name: string;
  readonly pointer: string;
  /** Value of the header, if it is not secret. */
  readonly value?: string;
}

/** For `inspect`: finds headers that both the resource and its MCPExternalAuthConfig set. */
export function authHeaderFindings(
  headers: HeaderForwarding | undefined,
  ref: { readonly name: string } | undefined,
  view: View,
  pointer: string,
): readonly Finding[] {
  const config = externalAuthConfig(ref, view);
  const header = config === undefined ? undefined : authHeader(config);
  if (ref === undefined || header === undefined) return [];
  const { plain, secret } = namedHeaders(addedHeaders(headers, pointer));
  return [...plain, ...secret]
    .filter(({ name }) => name.toLowerCase() === header.toLowerCase())
    .map(({ name, pointer }) => {
      const message = `${name} is also set by MCPExternalAuthConfig ${ref.name}: the value given here wins`;
      return { code: 'header-set-twice', severity: 'warning', pointer, message };
    });
}

function authHeader(config: ExternalAuthConfig): string | undefined {
  const { type, headerInjection, tokenExchange } = config;
  switch (type) {
    case 'unauthenticated':
      return undefined;
    case 'headerInjection':
      return headerInjection?.headerName;
    case 'tokenExchange':
      return tokenExchange?.externalTokenHeaderName || 'Authorization';
    case 'bearerToken':
    case 'cloudSts':
    case 'embeddedAuthServer':
    case 'upstreamInject':
      return 'Authorization';
  }
}

export function headerFindings(headers: HeaderForwarding | undefined, pointer: string): readonly Finding[] {
  return addedHeaderFindings(addedHeaders(headers, pointer), ['addPlaintextHeaders', 'addHeadersFromSecret']);
}

/** The two fields with added headers: headers with plain values, and headers with values in Secrets. */
interface AddedHeaders {
  readonly plain: { readonly headers: Readonly<Record<string, string>>; readonly pointer: string };
  readonly secret: { readonly names: readonly string[]; pointerOf(index: number): string };
}

/** `fields`: names of the two fields, for messages. */
export function addedHeaderFindings(
  headers: AddedHeaders,
  [plainField, secretField]: readonly [string, string],
): readonly Finding[] {
  const { plain, secret } = namedHeaders(headers);
  return [
    ...[...plain, ...secret].flatMap((header) => headerFinding(header, secretField)),
    ...setTwice(plain, secret, plainField),
  ];
}

function addedHeaders(headers: HeaderForwarding | undefined, pointer: string): AddedHeaders {
  return {
    plain: { headers: headers?.addPlaintextHeaders ?? {}, pointer: `${pointer}/addPlaintextHeaders` },
    secret: {
      names: (headers?.addHeadersFromSecret ?? []).map(({ headerName }) => headerName),
      pointerOf: (index) => `${pointer}/addHeadersFromSecret/${index}/headerName`,
    },
  };
}

function namedHeaders({ plain, secret }: AddedHeaders) {
  return {
    plain: Object.entries(plain.headers).map(([name, value]): HeaderField => {
      return { name, value, pointer: `${plain.pointer}/${pointerToken(name)}` };
    }),
    secret: secret.names.map((name, index): HeaderField => ({ name, pointer: secret.pointerOf(index) })),
  };
}

/** Finds headers that are invalid in a request, or that only the proxy itself may set. */
export function plainHeaderFindings(headers: Readonly<Record<string, string>>, pointer: string): readonly Finding[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    return unsendable({ name, value, pointer: `${pointer}/${pointerToken(name)}` });
  });
}

/** Checks the name of a header whose value is in a Secret. */
export function headerNameFindings(name: string | undefined, pointer: string): readonly Finding[] {
  return name === undefined || name === '' ? [] : unsendable({ name, pointer });
}

/** Returns at most one finding. */
function headerFinding(header: HeaderField, secretField: string): readonly Finding[] {
  const { name, value, pointer } = header;
  const faults = unsendable(header);
  if (faults.length > 0 || value === undefined || !looksSecret(name)) return faults;
  const message = `${name} looks like a secret, and is readable by anyone here: use ${secretField}`;
  return [{ code: 'header-plain-secret', severity: 'warning', pointer, message, ...KEY }];
}

/** Returns at most one finding. */
function unsendable({ name, value, pointer }: HeaderField): readonly Finding[] {
  const key = value === undefined ? {} : KEY;
  if (!TOKEN.test(name)) {
    const message = `"${name}" is not a valid name of a header: use letters, digits and !#$%&'*+-.^_\`|~`;
    return [{ code: 'header-invalid', severity: 'error', pointer, message, ...key }];
  }
  if (isRestricted(name)) {
    const message = `${name} can only be set by the proxy: it describes one connection, or the caller`;
    return [{ code: 'header-restricted', severity: 'error', pointer, message, ...key }];
  }
  if (value !== undefined && UNSENDABLE.test(value)) {
    const message = `the value of ${name} contains a line break or another control character, which a header cannot contain`;
    return [{ code: 'header-invalid', severity: 'error', pointer, message }];
  }
  return [];
}

const KEY = { at: 'key' } as const;

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Control characters except tabs. A value must not contain them (RFC 9110 section 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Headers of the connection (RFC 9110 section 7.6.1 and RFC 9113 section 8.2.2), and headers that identify the client
 * to a server.
 */
const RESTRICTED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'transfer-encoding',
  'content-length',
  'forwarded',
  'x-real-ip',
]);

function isRestricted(name: string): boolean {
  const lower = name.toLowerCase();
  return RESTRICTED.has(lower) || lower.startsWith('proxy-') || lower.startsWith('x-forwarded-');
}

const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['authorization', 'auth', 'cookie', 'token', 'secret', 'password', 'passwd', 'credential', 'credentials'],
  ...['apikey', 'accesskey', 'privatekey', 'bearer', 'jwt'],
]);

/** Compares whole words of the name: `X-Api-Key` and `X-APIKey` match, `X-Keyboard` does not. */
function looksSecret(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  const pairs = words.map((word, index) => `${word}${words[index + 1] ?? ''}`);
  return [...words, ...pairs].some((word) => SECRET_WORDS.has(word));
}

/**
 * Finds headers that both fields set, or that one field sets twice. Names are compared case-insensitively (RFC 9110
 * section 5.1).
 */
function setTwice(
  plain: readonly HeaderField[],
  secret: readonly HeaderField[],
  plainField: string,
): readonly Finding[] {
  const plainNames = new Set(plain.map(({ name }) => name.toLowerCase()));
  const hidden = secret.filter(({ name }) => plainNames.has(name.toLowerCase()));
  return [
    ...[plain, secret].flatMap(repeated).map(({ name, pointer }): Finding => {
      const message = `${name} is set twice, because the case of letters does not distinguish headers: remove one`;
      return { code: 'header-set-twice', severity: 'error', pointer, message };
    }),
    ...hidden.map(({ name, pointer }): Finding => {
      const message = `${name} is in ${plainField} too: the value of the Secret wins`;
      return { code: 'header-set-twice', severity: 'warning', pointer, message };
    }),
  ];
}

function repeated(headers: readonly HeaderField[]): readonly HeaderField[] {
  const first = new Map(headers.toReversed().map((header) => [header.name.toLowerCase(), header]));
  return headers.filter((header) => first.get(header.name.toLowerCase()) !== header);
}

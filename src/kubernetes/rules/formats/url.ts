// Parses URLs as Go's `url.ParseRequestURI` does: an absolute URI or an absolute path.

import { parseIp } from './ip.ts';

export interface GoUrl {
  readonly scheme: string;
  /** The host with the port. IPv6 addresses are in brackets. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  /** Values by parameter name, in order of appearance. */
  readonly query: ReadonlyMap<string, readonly string[]>;
}

const HOST_CHARACTERS = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]*$/u;
const USER_CHARACTERS = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const VALID_PATH = /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/;
const PLAIN_PATH = /^[A-Za-z0-9\-_.~$&+,/:;=@]$/;

/** Returns undefined if Go's `url.ParseRequestURI` would fail. Like that function, it does not parse fragments. */
export function parseGoUrl(text: string): GoUrl | undefined {
  const hash = text.indexOf('#');
  const whole = parseWhole(text);
  return whole === undefined || hash < 0 ? whole : parseWhole(text.slice(0, hash));
}

function parseWhole(text: string): GoUrl | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what Go refuses first
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return undefined;
  const scheme = /^[A-Za-z][A-Za-z0-9+\-.]*(?=:)/.exec(text)?.[0] ?? '';
  if (text.startsWith(':')) return undefined;
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1);
  const { path: rest, query } = splitQuery(afterScheme);
  // After a scheme, a path without a leading slash is opaque (`mailto:a@b.c`). Without a scheme it is invalid.
  if (!rest.startsWith('/')) return scheme === '' && text !== '*' ? undefined : opaque(scheme, query);
  if (scheme === '' || !rest.startsWith('//'))
    return withPath(scheme, { host: '', hostname: '', port: '' }, rest, query);
  const slash = rest.indexOf('/', 2);
  const authority = parseAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash));
  return authority === undefined ? undefined : withPath(scheme, authority, slash < 0 ? '' : rest.slice(slash), query);
}

interface Authority {
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
}

function splitQuery(text: string): { path: string; query: string } {
  const mark = text.indexOf('?');
  return mark < 0 ? { path: text, query: '' } : { path: text.slice(0, mark), query: text.slice(mark + 1) };
}

function opaque(scheme: string, query: string): GoUrl {
  return {
    scheme: scheme.toLowerCase(),
    host: '',
    hostname: '',
    port: '',
    escapedPath: '',
    query: parseQuery(query),
  };
}

function withPath(scheme: string, authority: Authority, path: string, query: string): GoUrl | undefined {
  const unescaped = percentDecoded(path);
  if (unescaped === undefined) return undefined;
  const escapedPath = VALID_PATH.test(path) ? path : escapePath(unescaped);
  return { scheme: scheme.toLowerCase(), ...authority, escapedPath, query: parseQuery(query) };
}

function parseAuthority(text: string): Authority | undefined {
  const at = text.lastIndexOf('@');
  const user = at < 0 ? '' : text.slice(0, at);
  if (!USER_CHARACTERS.test(user) || percentDecoded(user) === undefined) return undefined;
  return parseHost(text.slice(at + 1));
}

function parseHost(text: string): Authority | undefined {
  const bracket = text.startsWith('[') ? text.lastIndexOf(']') : -1;
  if (text.startsWith('[') && bracket < 0) return undefined;
  const colon = text.indexOf(':', Math.max(bracket, 0));
  const name = colon < 0 ? text : text.slice(0, colon);
  const port = colon < 0 ? '' : text.slice(colon + 1);
  if (!/^[0-9]*$/.test(port)) return undefined;
  const host = decodeHost(name);
  if (host === undefined) return undefined;
  const written = colon < 0 ? host : `${host}:${port}`;
  if (bracket < 0) return { host: written, hostname: host, port };
  const address = host.slice(1, -1);
  const { bare, zoned } = splitZone(address);
  if (!host.endsWith(']') || parseIp(bare)?.version !== 6 || zoned === '') return undefined;
  return { host: written, hostname: address, port };
}

function splitZone(address: string): { bare: string; zoned: string | undefined } {
  const percent = address.indexOf('%');
  return percent < 0
    ? { bare: address, zoned: undefined }
    : { bare: address.slice(0, percent), zoned: address.slice(percent + 1) };
}

/** Decodes a host. Only bytes beyond ASCII and `%25` before the zone of an IPv6 address may be escaped. */
function decodeHost(text: string): string | undefined {
  const zone = text.startsWith('[') ? text.indexOf('%25') : -1;
  const name = zone < 0 ? text : `${text.slice(0, zone)}${text.slice(text.lastIndexOf(']'))}`;
  if (/%(?![89a-fA-F][0-9a-fA-F])/.test(name)) return undefined;
  const decoded = percentDecoded(text);
  if (decoded === undefined) return undefined;
  return HOST_CHARACTERS.test(zone < 0 ? decoded : name) ? decoded : undefined;
}

/** Returns undefined if a percent sign is not followed by two hexadecimal digits. */
function percentDecoded(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const bytes: number[] = [];
  for (const part of text.match(/%[0-9a-fA-F]{2}|[^%]+/g) ?? []) {
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16));
    else bytes.push(...Buffer.from(part, 'utf8'));
  }
  return Buffer.from(bytes).toString('utf8');
}

function escapePath(path: string): string {
  return [...path]
    .map((character) =>
      PLAIN_PATH.test(character)
        ? character
        : [...Buffer.from(character, 'utf8')]
            .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
            .join(''),
    )
    .join('');
}

/** Parses a query. Pairs with a semicolon or a broken escape are left out, as Go's `url.ParseQuery` does. */
function parseQuery(text: string): Map<string, string[]> {
  const query = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = percentDecoded((equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' '));
    const value = percentDecoded((equals < 0 ? '' : pair.slice(equals + 1)).replaceAll('+', ' '));
    if (key === undefined || value === undefined) continue;
    const values = query.get(key);
    if (values === undefined) query.set(key, [value]);
    else values.push(value);
  }
  return query;
}

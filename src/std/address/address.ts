// Checks URLs and addresses in settings. A schema marks each address field with its form, and `addressFaults` checks
// the values.

import { isObject, type Json, type JsonObject, pointerToken } from '../json.ts';
import type { TSchema, TString } from '../json-schema.ts';
import { withoutEndSlashes, withoutLeadingSlashes } from '../slashes.ts';

/** Marks a field that contains an address. The value of the mark is an `AddressForm`. */
export const ADDRESS = 'x-skep-address';

/** Description of each form for messages. */
const RIGHT = {
  url: 'an http or https URL without a user name and password, such as https://host.example.com/path',
  resource: 'an http or https URL without credentials and a fragment (RFC 9728), such as https://host.example.com/mcp',
  collector: 'host:port, or an http or https URL without credentials, query and fragment',
  hostPort: 'host:port, such as redis.example.com:6379 or [::1]:6379',
  host: 'a host name or an IP address',
  path: 'a path of a URL, such as /servers/weather',
  repository: 'a URL of a repository, such as https://git.example.com/team/fleet.git',
} as const;

export type AddressForm = keyof typeof RIGHT;

const FITS: Readonly<Record<AddressForm, (text: string) => boolean>> = {
  url: (text) => httpUrl(text) !== undefined,
  resource: (text) => httpUrl(text)?.hash === '' && !text.endsWith('#'),
  collector: (text) => collectorUrl(text, false) !== undefined,
  hostPort: (text) => hostPort(text) !== undefined,
  host: (text) => hostPort(`${text.includes(':') ? `[${text}]` : text}:1`) !== undefined,
  path: (text) => pathPrefix(text) !== undefined,
  // `host:path` is an ssh address, although it parses as a URL with the host as its scheme.
  repository: (text) => !text.includes('://') || (URL.canParse(text) && !/\s/.test(text)),
};

/** Returns a marked copy of the schema. Call `optional` afterwards: a copy loses the mark of `optional`. */
export function addressed(schema: TString, form: AddressForm): TString {
  return Object.assign({ ...schema }, { [ADDRESS]: form });
}

/** Returns the fault as words that follow the field's name. Returns undefined if the text has the form. */
export function addressFault(form: AddressForm, text: string): string | undefined {
  if (FITS[form](text)) return undefined;
  // The text before `@` may contain a password, so the message must not contain it.
  return `must be ${RIGHT[form]}${text.includes('@') ? '' : `, not "${text}"`}`;
}

export interface AddressFault {
  readonly pointer: string;
  readonly message: string;
}

/**
 * Returns the faults of a value and all nested values. Skips empty texts: the schema decides whether a text may be
 * empty.
 */
export function addressFaults(schema: TSchema, value: unknown, pointer = ''): readonly AddressFault[] {
  if (!isObject(schema)) return [];
  if (typeof value === 'string') return textFaults(schema[ADDRESS], value, pointer);
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.flatMap((item, index) => addressFaults(items, item, `${pointer}/${index}`)) : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = schemaAt(schema, key);
    return isObject(field) ? addressFaults(field, inner, `${pointer}/${pointerToken(key)}`) : [];
  });
}

function textFaults(form: Json | undefined, text: string, pointer: string): readonly AddressFault[] {
  if (typeof form !== 'string' || text === '') return [];
  const message = addressFault(form as AddressForm, text);
  return message === undefined ? [] : [{ pointer, message }];
}

function schemaAt({ properties, additionalProperties, patternProperties }: JsonObject, key: string) {
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  const [each] = isObject(patternProperties) ? Object.values(patternProperties) : [additionalProperties];
  return each;
}

/** Returns undefined if the text is not an http or https URL, or if it contains credentials. */
export function httpUrl(text: string): URL | undefined {
  // The URL parser accepts white space, `http:host` and backslashes, which other parsers may read differently.
  if (!/^https?:\/\/[^\s/?#\\][^\s\\]*$/i.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null || url.username + url.password !== '' ? undefined : url;
}

const SCHEME = /^https?:\/\//i;

/**
 * Returns the base URL of a collector. A text without a scheme means HTTPS, or HTTP if `insecure`. Callers append the
 * path of the signal (OpenTelemetry, OTLP exporter, endpoint URLs). Returns undefined if the text is not a base URL.
 */
export function collectorUrl(endpoint: string, insecure: boolean): string | undefined {
  if (endpoint.includes('://') && !SCHEME.test(endpoint)) return undefined;
  const url = httpUrl(SCHEME.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`);
  if (url === undefined || url.search + url.hash !== '') return undefined;
  return url.origin + withoutEndSlashes(url.pathname);
}

/**
 * Parses `host:port`. Removes the brackets of an IPv6 address. Returns undefined if the text does not have this form.
 */
export function hostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, host, digits] = /^([^\s:/?#@\\[\]]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535 || !URL.canParse(`http://${host}`)) return undefined;
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
}

/**
 * Returns the prefix with a leading slash and without a trailing slash, or '' for an empty prefix. Returns undefined
 * for an invalid path. Leading slashes are reduced to one, because `//host` would lead clients to another host.
 */
export function pathPrefix(text: string): string | undefined {
  const trimmed = withoutLeadingSlashes(withoutEndSlashes(text));
  if (trimmed === '') return '';
  return /^[A-Za-z0-9._~!$&'()*+,;=:@%/-]+$/.test(trimmed) && !trimmed.includes('//') ? `/${trimmed}` : undefined;
}

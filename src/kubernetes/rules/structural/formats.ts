// Checks the formats that an API server checks in custom resources. Other formats are ignored. Source:
// apiextensions.k8s.io/v1, JSONSchemaProps.format.

import { parseGoDuration } from '../formats/duration.ts';
import { parseCidr, parseIp } from '../formats/ip.ts';
import { dnsLabelFault, subdomainFault } from '../formats/names.ts';
import { isBase64Text, isDateText, isDateTimeText } from '../formats/text.ts';
import { parseGoUrl } from '../formats/url.ts';

export interface FormatCheck {
  /** Description of a valid value. Follows "must be". */
  readonly meaning: string;
  accepts(value: string): boolean;
}

const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const MAIL = /^(?:"(?:[^"\\]|\\.)*"|[^\s@<>()[\]\\,;:"]+)@[^\s@<>()[\]\\,;:"]+$/;
const NAMED_MAIL = /^[^<>]*<([^<>]+)>$/;
const MAC =
  /^(?:[0-9a-fA-F]{2}([-:])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}\1[0-9a-fA-F]{2})?|(?:[0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4})$/;
const HOST_CHARACTER = 'a-zA-Z0-9\\p{S}\\p{L}';
/** A name without a dot may have one hyphen. In a name with dots, the last label must consist of letters. */
const HOST = new RegExp(
  `^(?:[${HOST_CHARACTER}]-?[${HOST_CHARACTER}]{0,62}|(?:[${HOST_CHARACTER}](?:[-${HOST_CHARACTER}]{0,61}[${HOST_CHARACTER}])?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);
const RGB_PART = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
/** Matches the parts of texts such as `2 days 3 hours`. */
const LOOSE_DURATION = /(\d+)\s*([A-Za-zµ]+)/g;
const UNIT_NAME = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

/** Format checks by name without hyphens. The API server also ignores hyphens. */
const TEXT_FORMATS: Readonly<Record<string, FormatCheck>> = {
  bsonobjectid: pattern('24 hexadecimal digits', /^[0-9a-fA-F]{24}$/),
  uri: { meaning: 'an absolute URI or an absolute path', accepts: (text) => parseGoUrl(text) !== undefined },
  email: { meaning: 'an e-mail address', accepts: (text) => MAIL.test(NAMED_MAIL.exec(text)?.[1] ?? text) },
  hostname: { meaning: 'a host name', accepts: isHostname },
  ipv4: {
    meaning: 'an IPv4 address',
    accepts: (text) => parseIp(text, { leadingZeros: true }) !== undefined && text.includes('.'),
  },
  ipv6: { meaning: 'an IPv6 address', accepts: (text) => parseIp(text)?.version === 6 },
  cidr: {
    meaning: 'a network such as 10.0.0.0/8',
    accepts: (text) => parseCidr(text, { leadingZeros: true }) !== undefined,
  },
  mac: pattern('a MAC address', MAC),
  uuid: uuid(''),
  uuid3: uuid('3'),
  uuid4: uuid('4'),
  uuid5: uuid('5'),
  isbn: { meaning: 'an ISBN', accepts: (text) => isIsbn10(text) || isIsbn13(text) },
  isbn10: { meaning: 'an ISBN of 10 digits', accepts: isIsbn10 },
  isbn13: { meaning: 'an ISBN of 13 digits', accepts: isIsbn13 },
  creditcard: { meaning: 'a credit card number', accepts: isCreditCard },
  ssn: {
    meaning: 'a social security number',
    accepts: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  },
  hexcolor: pattern('a colour such as #FFFFFF', /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: pattern(
    'a colour such as rgb(255, 255, 255)',
    new RegExp(`^rgb\\(\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*\\)$`),
  ),
  byte: { meaning: 'base64 text', accepts: isBase64Text },
  password: { meaning: 'text', accepts: () => true },
  date: { meaning: 'a date such as 2026-01-31', accepts: isDateText },
  duration: { meaning: 'a duration such as 1h30m', accepts: isLooseDuration },
  datetime: { meaning: 'a time such as 2026-01-31T12:00:00Z', accepts: isDateTimeText },
  k8sshortname: { meaning: 'a DNS label', accepts: (text) => dnsLabelFault(text) === undefined },
  k8slongname: { meaning: 'a DNS subdomain', accepts: (text) => subdomainFault(text) === undefined },
};

/**
 * Returns undefined if the API server ignores the format for this type. For number formats see `Checks.numberFormat`.
 */
export function formatCheck(type: string | undefined, format: string): FormatCheck | undefined {
  if (type !== undefined && type !== 'string') return undefined;
  const name = format.replaceAll('-', '');
  return Object.hasOwn(TEXT_FORMATS, name) ? TEXT_FORMATS[name] : undefined;
}

function pattern(meaning: string, expression: RegExp): FormatCheck {
  return { meaning, accepts: (text) => expression.test(text) };
}

function uuid(version: string): FormatCheck {
  const third = version === '' ? '[0-9a-f]{4}' : `${version}[0-9a-f]{3}`;
  const fourth = version === '4' || version === '5' ? '[89ab][0-9a-f]{3}' : '[0-9a-f]{4}';
  const expression = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i');
  return pattern(`a UUID${version === '' ? '' : ` of version ${version}`}`, expression);
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return HOST.test(text) && text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

function isLooseDuration(text: string): boolean {
  if (parseGoDuration(text) !== undefined) return true;
  return [...text.matchAll(LOOSE_DURATION)].some(([, , unit = '']) => UNIT_NAME.test(unit));
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  // Luhn checksum: every second digit from the right is doubled.
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

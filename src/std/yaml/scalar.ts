// Resolves YAML 1.1 scalars exactly as Kubernetes clients do, by the types of go-yaml 2 (no sexagesimal numbers, dates
// stay strings).

type Scalar = null | boolean | number | string;

export type Resolved =
  | {
      readonly ok: true;
      readonly value: Scalar /** True for an integer that a double cannot represent. */;
      readonly inexact?: true;
    }
  | { readonly ok: false; readonly reason: string };

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUES = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSES = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

const CORE_TAG = 'tag:yaml.org,2002:';

/** Returns the value of a scalar. `tag` is the full name of its tag, such as `tag:yaml.org,2002:int` or `!`. */
export function resolveScalar(text: string, plain: boolean, tag: string | undefined): Resolved {
  if (tag === undefined) return plain ? resolvePlain(text) : { ok: true, value: text };
  if (!tag.startsWith(CORE_TAG)) return { ok: true, value: text };
  return resolveTagged(text, tag.slice(CORE_TAG.length));
}

function resolveTagged(text: string, tag: string): Resolved {
  if (tag === 'binary') return resolveBinary(text);
  const expectedType = { int: 'number', float: 'number', bool: 'boolean', null: 'object' }[tag];
  if (expectedType === undefined) return { ok: true, value: text };
  const resolved = resolvePlain(text);
  if (!resolved.ok || typeof resolved.value === expectedType) return resolved;
  return { ok: false, reason: `the value is tagged !!${tag}, but does not have that type` };
}

function resolveBinary(text: string): Resolved {
  const packed = text.replaceAll(/\s/g, '');
  const decoded = Buffer.from(packed, 'base64');
  if (decoded.toString('base64') !== packed)
    return { ok: false, reason: 'the value is tagged !!binary, but is not base64' };
  return { ok: true, value: decoded.toString('utf8') };
}

/** Length of `false`, the longest word for null, true or false. */
const WORD_MAX = 5;

function resolvePlain(text: string): Resolved {
  if (text.length <= WORD_MAX) {
    if (NULLS.has(text)) return { ok: true, value: null };
    if (TRUES.has(text)) return { ok: true, value: true };
    if (FALSES.has(text)) return { ok: true, value: false };
  }
  if (!beginsNumber(text.charCodeAt(0))) return { ok: true, value: text };
  if (NOT_FINITE.test(text))
    return { ok: false, reason: `${text} is not allowed in JSON; write a finite number or a string` };
  return resolveNumber(text.startsWith('.') ? text : text.replaceAll('_', '')) ?? { ok: true, value: text };
}

/** Returns whether the character is `+`, `-`, `.` or a digit. */
function beginsNumber(code: number): boolean {
  return code === 43 || code === 45 || code === 46 || (code >= 48 && code <= 57);
}

function resolveNumber(text: string): Resolved | undefined {
  const integer = INTEGER.exec(text);
  if (integer !== null) {
    const [, sign, hex, binary, octal, decimal] = integer;
    const magnitude = BigInt(prefixed(hex, '0x') ?? prefixed(binary, '0b') ?? prefixed(octal, '0o') ?? decimal ?? '0');
    const value = magnitude === 0n ? 0 : Number(sign === '-' ? -magnitude : magnitude);
    return Number.isSafeInteger(value) ? { ok: true, value } : { ok: true, value, inexact: true };
  }
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { ok: true, value: value === 0 ? 0 : value } : undefined;
}

function prefixed(digits: string | undefined, prefix: string): string | undefined {
  return digits === undefined ? undefined : prefix + digits;
}

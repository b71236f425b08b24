// Implements printf of Go templates. Source: Go 1.26, fmt, "Printing". Unlike Go, prints integers as floats and floats
// as integers (`%.2f` of 3, `%d` of 3.0), because JSON does not distinguish them.

import { stop } from './budget.ts';
import { formatFloat, printNested, printValue, quoteText } from './text.ts';
import { typeName, type Value } from './values.ts';

interface Directive {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  readonly verb: string;
}

const DIRECTIVE = /%([-+# 0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]+)?)?(\[)?(.|\n)?/gu;

/** Go's maximum of width and precision. */
const SIZE_MAX = 1_000_000;

/** Stops the template if the format has verbs that are not supported: `%#v`, `%[1]d`. */
export function formatPrintf(format: string, values: readonly Value[]): string {
  let next = 0;
  let made = '';
  let end = 0;

  function size(text: string | undefined, name: string): number | undefined {
    if (text === undefined) return undefined;
    const value = text === '*' ? values[next++] : BigInt(text);
    if (typeof value === 'bigint' && value <= SIZE_MAX && value >= -SIZE_MAX) return Number(value);
    made += `%!(BAD${name})`;
    return undefined;
  }

  for (const match of format.matchAll(DIRECTIVE)) {
    const [whole, flags = '', width, precision, reordered, verb] = match;
    made += format.slice(end, match.index);
    end = match.index + whole.length;
    if (reordered !== undefined) stop(`printf: ${whole} is not supported: pass the arguments in their order`);
    const asked = size(width, 'WIDTH');
    const limit = whole.includes('.')
      ? (size(precision, 'PREC') ?? (precision === undefined ? 0 : undefined))
      : undefined;
    if (verb === undefined) made += '%!(NOVERB)';
    else if (verb === '%') made += '%';
    else if (next >= values.length) made += `%!${verb}(MISSING)`;
    else made += formatOne(directiveOf(flags, asked, limit, verb), values[next++]);
  }
  return made + format.slice(end) + extraArguments(values.slice(next));
}

function extraArguments(values: readonly Value[]): string {
  if (values.length === 0) return '';
  return `%!(EXTRA ${values.map(describe).join(', ')})`;
}

function describe(value: Value): string {
  return value === undefined || value === null ? '<nil>' : `${typeName(value)}=${printValue(value)}`;
}

function directiveOf(flags: string, width: number | undefined, precision: number | undefined, verb: string): Directive {
  const minus = flags.includes('-') || (width !== undefined && width < 0);
  return {
    plus: flags.includes('+'),
    minus,
    sharp: flags.includes('#'),
    space: flags.includes(' '),
    zero: flags.includes('0') && !minus,
    width: width === undefined ? undefined : Math.abs(width),
    precision: precision !== undefined && precision < 0 ? undefined : precision,
    verb,
  };
}

function formatOne(given: Directive, value: Value): string {
  const { verb } = given;
  if (verb === 'T') return pad({ ...given, precision: undefined }, typeName(value));
  if (verb === 'v' && given.sharp) stop('printf: %#v is not supported: use %v or json');
  const directive = verb === 'v' ? { ...given, plus: false } : given;
  if (value === undefined || value === null) {
    return verb === 'v' ? pad(directive, '<nil>') : `%!${verb}(<nil>)`;
  }
  return printNested(value, (each) => formatPlain(directive, each));
}

function formatPlain(directive: Directive, value: Value): string {
  switch (typeof value) {
    case 'string':
      return formatText(directive, value);
    case 'boolean':
      return 'tv'.includes(directive.verb) ? pad(directive, String(value)) : badVerb(directive, value);
    case 'bigint':
      return 'feEgGF'.includes(directive.verb)
        ? formatFraction(directive, Number(value))
        : formatInteger(directive, value);
    case 'number':
      return 'dboOxXcqU'.includes(directive.verb) && Number.isSafeInteger(value)
        ? formatInteger(directive, BigInt(value))
        : formatFraction(directive, value);
    default:
      return '<nil>';
  }
}

function badVerb(directive: Directive, value: Value): string {
  return `%!${directive.verb}(${typeName(value)}=${formatPlain({ ...directive, verb: 'v' }, value)})`;
}

function formatText(directive: Directive, value: string): string {
  const { verb, precision } = directive;
  const cut = precision === undefined ? value : [...value].slice(0, precision).join('');
  switch (verb) {
    case 's':
    case 'v':
      return pad(directive, cut);
    case 'q':
      if (directive.sharp) stop('printf: %#q is not supported: use %q');
      return pad(directive, quoteText(cut, directive.plus));
    case 'x':
    case 'X':
      return pad(directive, hexOf(directive, value));
    default:
      return badVerb(directive, value);
  }
}

function hexOf({ verb, precision, sharp, space }: Directive, value: string): string {
  const bytes = Buffer.from(value, 'utf8').subarray(0, precision ?? value.length * 4);
  const pairs = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  if (pairs.length === 0) return '';
  const text = space ? pairs.map((pair) => (sharp ? '0x' : '') + pair).join(' ') : (sharp ? '0x' : '') + pairs.join('');
  return verb === 'X' ? text.toUpperCase() : text;
}

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

function formatInteger(directive: Directive, value: bigint): string {
  const { verb } = directive;
  const base = BASES[verb];
  if (base !== undefined) return formatDigits(directive, value, base);
  if (verb === 'c') return pad(directive, characterOf(value));
  if (verb === 'q') return pad(directive, quoteText(characterOf(value), directive.plus, "'"));
  if (verb !== 'U') return badVerb(directive, value);
  const digits = BigInt.asUintN(64, value)
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, directive.precision ?? 0), '0');
  const shown = directive.sharp && value >= 0n && value <= 0x10ffffn ? ` '${characterOf(value)}'` : '';
  return pad({ ...directive, zero: false }, `U+${digits}${shown}`);
}

function characterOf(value: bigint): string {
  const code = value < 0n || value > 0x10ffffn ? 0xfffd : Number(value);
  return code >= 0xd800 && code < 0xe000 ? '\ufffd' : String.fromCodePoint(code);
}

function formatDigits(directive: Directive, value: bigint, base: number): string {
  const { verb, width, precision, plus, space, zero, sharp } = directive;
  if (precision === 0 && value === 0n) return ' '.repeat(width ?? 0);
  const negative = value < 0n;
  const sign = negative ? '-' : plus ? '+' : space ? ' ' : '';
  const least = precision ?? (zero && width !== undefined ? width - sign.length : 0);
  const plain = (negative ? -value : value).toString(base).padStart(least, '0');
  const digits = verb === 'X' ? plain.toUpperCase() : plain;
  return pad({ ...directive, zero: false }, sign + basePrefix(verb, sharp, digits) + digits);
}

function basePrefix(verb: string, sharp: boolean, digits: string): string {
  if (verb === 'O') return '0o';
  if (!sharp) return '';
  if (verb === 'o') return digits.startsWith('0') ? '' : '0';
  return { b: '0b', x: '0x', X: '0X' }[verb] ?? '';
}

const FRACTIONS: Readonly<Record<string, { readonly form: 'e' | 'f' | 'g'; readonly digits?: number }>> = {
  v: { form: 'g' },
  g: { form: 'g' },
  G: { form: 'g' },
  e: { form: 'e', digits: 6 },
  E: { form: 'e', digits: 6 },
  f: { form: 'f', digits: 6 },
  F: { form: 'f', digits: 6 },
};

function formatFraction(directive: Directive, value: number): string {
  const { verb, precision, plus, space, zero, width = 0, sharp } = directive;
  const known = FRACTIONS[verb];
  if (known === undefined && !'bxX'.includes(verb)) return badVerb(directive, value);
  if (known === undefined || sharp) return stop(`printf: %${sharp ? '#' : ''}${verb} of a fraction is not supported`);
  const plain = formatFloat(value, known.form, precision ?? known.digits);
  const text = 'EG'.includes(verb) ? plain.toUpperCase() : plain;
  const signed = text.startsWith('-') || text.startsWith('+') ? text : (plus ? '+' : space ? ' ' : '') + text;
  if (!zero || !Number.isFinite(value)) return pad({ ...directive, zero: false }, signed);
  const sign = /^[-+ ]/.test(signed) ? signed.slice(0, 1) : '';
  return sign + signed.slice(sign.length).padStart(width - sign.length, '0');
}

function pad({ width = 0, minus, zero }: Directive, text: string): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  return minus ? text + ' '.repeat(missing) : (zero ? '0' : ' ').repeat(missing) + text;
}

// Implements the functions that templates can call. Source: Go 1.26, text/template, "Functions". Workflows add `json`,
// `quote` and `fromJson`.

import { parseJson } from '#std/json.ts';
import { type Budget, spendText, stop } from './budget.ts';
import { equals, equalsAny, isLess, isLessOrEqual } from './compare.ts';
import { formatPrintf } from './printf.ts';
import {
  escapeHtml,
  escapeJs,
  escapeQuery,
  formatJson,
  printAll,
  printArguments,
  printValue,
  quoteText,
} from './text.ts';
import { fromData, isList, isMap, isTruthy, typeName, type Value } from './values.ts';

interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  call(values: readonly Value[], budget: Budget): Value;
}

const ANY = Number.POSITIVE_INFINITY;

function fixed(count: number, call: TemplateFunction['call']): TemplateFunction {
  return { least: count, most: count, call };
}

function atLeast(least: number, call: TemplateFunction['call']): TemplateFunction {
  return { least, most: ANY, call };
}

/** `and` and `or` are missing, because they do not evaluate all arguments. */
const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['not', fixed(1, ([value]) => !isTruthy(value))],
  ['len', fixed(1, ([value]) => lengthOf(value))],
  ['index', atLeast(1, ([item, ...keys]) => indexed(item, keys))],
  ['slice', atLeast(1, ([item, ...bounds]) => sliced(item, bounds))],
  ['print', atLeast(0, (values) => printAll(values))],
  ['println', atLeast(0, (values) => `${values.map(printValue).join(' ')}\n`)],
  ['printf', atLeast(1, ([format, ...values]) => formatPrintf(givenText('printf', format), values))],
  ['html', atLeast(0, (values) => escapeHtml(printArguments(values)))],
  ['js', atLeast(0, (values) => escapeJs(printArguments(values)))],
  ['urlquery', atLeast(0, (values) => escapeQuery(printArguments(values)))],
  ['call', atLeast(1, () => stop('call: there is no function to be called'))],
  ['eq', atLeast(1, ([value, ...others]) => equalsAny(value, others))],
  ['ne', fixed(2, ([a, b]) => !equals(a, b))],
  ['lt', fixed(2, ([a, b]) => isLess(a, b))],
  ['le', fixed(2, ([a, b]) => isLessOrEqual(a, b))],
  ['gt', fixed(2, ([a, b]) => !isLessOrEqual(a, b))],
  ['ge', fixed(2, ([a, b]) => !isLess(a, b))],
  ['json', fixed(1, ([value]) => formatJson(value))],
  ['quote', fixed(1, ([value]) => quoteText(givenText('quote', value), false))],
  ['fromJson', fixed(1, ([value], budget) => readJson(spendText(budget, givenText('fromJson', value))))],
]);

export function callFunction(budget: Budget, name: string, values: readonly Value[]): Value {
  const found = FUNCTIONS.get(name);
  if (found === undefined) return stop(`there is no function ${name}`);
  if (values.length < found.least || values.length > found.most) {
    const expected = found.most === ANY ? `at least ${found.least}` : found.least;
    stop(`${name} takes ${expected} values, not ${values.length}`);
  }
  const result = found.call(values, budget);
  return typeof result === 'string' ? spendText(budget, result) : result;
}

function givenText(name: string, value: Value): string {
  if (typeof value === 'string') return value;
  return stop(
    `${name} takes a text, not ${value === undefined ? 'an absent value' : `a value of type ${typeName(value)}`}`,
  );
}

function readJson(text: string): Value {
  const value = parseJson(text);
  if (value === undefined) return stop('fromJson: the text is not JSON');
  return fromData(value);
}

/** Returns the length. The length of a text is its number of bytes. */
function lengthOf(value: Value): Value {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
  if (isList(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(Object.keys(value).length);
  return stop(`a value of type ${typeName(value)} has no length`);
}

function indexed(item: Value, keys: readonly Value[]): Value {
  if (item === undefined || item === null) return stop('index of an absent value');
  let value: Value = item;
  for (const key of keys) {
    if (isMap(value)) {
      if (typeof key !== 'string') stop(`a map is indexed by texts, not by ${typeName(key)}`);
      value = Object.hasOwn(value, String(key)) ? fromData(value[String(key)]) : null;
    } else if (isList(value)) {
      value = fromData(value[position(key, value.length - 1)]);
    } else if (typeof value === 'string') {
      const bytes = Buffer.from(value);
      value = BigInt(bytes[position(key, bytes.length - 1)] ?? 0);
    } else {
      stop(`a value of type ${typeName(value)} cannot be indexed`);
    }
  }
  return value;
}

function position(value: Value, last: number): number {
  if (typeof value !== 'bigint') return stop(`a list is indexed by whole numbers, not by ${typeName(value)}`);
  if (value < 0n || value > last) stop(`the index ${value} is out of range: there are ${last + 1}`);
  return Number(value);
}

function sliced(item: Value, bounds: readonly Value[]): Value {
  if (typeof item !== 'string' && !isList(item)) return stop(`a value of type ${typeName(item)} cannot be sliced`);
  if (bounds.length > 3) stop(`slice takes at most three bounds, not ${bounds.length}`);
  if (bounds.length === 3 && typeof item === 'string') stop('a text has no capacity: slice takes two bounds');
  const length = typeof item === 'string' ? Buffer.byteLength(item) : item.length;
  const [start = 0, end = length, capacity = end] = bounds.map((bound) => position(bound, length));
  if (start > end || end > capacity) stop(`slice: the bounds ${start} and ${end} are in the wrong order`);
  return typeof item === 'string' ? Buffer.from(item).toString('utf8', start, end) : item.slice(start, end);
}

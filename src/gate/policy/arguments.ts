// The object `arguments` of a call out of its bytes, read as strictly as far as policies read it: no key twice, none in
// another letter case. Knows nothing about policies.

import type { Span } from '../../mcp/message.ts';
import { scanValueStrict } from '../../mcp/scan.ts';
import { isObject } from '../../std/json.ts';
import { argumentKey, type IndexedArguments, indexArguments, NO_ARGUMENTS } from './attributes.ts';
import { parseExactly } from './exact-json.ts';
import type { Names } from './reads.ts';

interface GivenArguments {
  readonly body: Buffer;
  readonly span: Span;
}

/** `names`: as policies have them. Undefined where two readers could read the arguments differently. */
export function readArguments(given: GivenArguments | undefined, names: Names): IndexedArguments | undefined {
  if (given === undefined) return NO_ARGUMENTS;
  const { body, span } = given;
  const known = names === 'all' ? undefined : [...names].flatMap((name) => argumentKey(name) ?? []);
  if (!scanValueStrict(body, span, { known }).ok) return undefined;
  const values = parseExactly(body.toString('utf8', span.start, span.end));
  if (!isObject(values)) return undefined;
  const read = known === undefined ? Object.values(values) : known.map((key) => values[key]);
  // What is within lists and objects matters only where one of them is read.
  const nested = read.some((value) => typeof value === 'object');
  return nested && !scanValueStrict(body, span, { known, deep: true }).ok ? undefined : indexArguments(values);
}

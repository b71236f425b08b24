// Finds mistakes in mappings of callers to cloud roles that neither a schema nor CEL can find.

import { roleMatcher } from '#contracts/role-matcher.ts';
import type { CloudSts } from '#contracts/virtual/cloud-sts.ts';
import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';

type Mapping = NonNullable<Static<typeof CloudSts>['roleMappings']>[number];

/** Checks the mappings in the order in which they are tried. A mapping hides later mappings with the same test. */
export function mappingFindings(mappings: readonly Mapping[] | undefined, at: string): readonly Finding[] {
  const tried = (mappings ?? [])
    .map((mapping, index) => ({ mapping, index }))
    .sort((a, b) => priorityOf(a.mapping) - priorityOf(b.mapping));
  const seen = new Map<string, number>();
  return tried.flatMap(({ mapping, index }) => {
    const { matcher } = mapping;
    const pointer = `${at}/${index}`;
    const test = matcher === undefined ? `claim ${mapping.claim}` : `matcher ${matcher}`;
    const earlier = seen.get(test);
    if (earlier !== undefined)
      return [unreachable(pointer, `never reached: roleMappings[${earlier}] has the same test`)];
    seen.set(test, index);
    return matcher === undefined ? [] : matcherFindings(matcher, pointer);
  });
}

/**
 * Returns the number by which mappings are sorted. Mappings without a priority come last, and mappings with equal
 * priorities keep their order.
 */
function priorityOf({ priority }: Mapping): number {
  return priority ?? Number.MAX_SAFE_INTEGER;
}

function matcherFindings(expression: string, pointer: string): readonly Finding[] {
  const matcher = roleMatcher(expression);
  if (matcher.type === 'fault') {
    const message = `not a CEL expression over claims: ${matcher.message}`;
    return [{ code: 'role-matcher-invalid', severity: 'error', pointer: `${pointer}/matcher`, message }];
  }
  if (!matcher.constant) return [];
  if (!matcher.matches({})) return [unreachable(pointer, 'its matcher is true for no token')];
  const message = 'true for every token: neither later mappings nor the fallback are reached';
  return [{ code: 'role-matcher-constant', severity: 'warning', pointer: `${pointer}/matcher`, message }];
}

function unreachable(pointer: string, message: string): Finding {
  return { code: 'role-mapping-unreachable', severity: 'warning', pointer, message };
}

// Fields of the existing platform that skep refuses on purpose, so that their message differs from that of a misspelled field.

import { pointerTokens } from '#std/json.ts';

/** Fields of all kinds (docs/migrating.md, "Fields that are refused"). */
const IN_ALL: readonly string[] = [
  'codeMode',
  'obo',
  'xaa',
  'authorizationEndpointBaseUrl',
  'delegateClients',
  'trustedIssuers',
];

const IN_ONE: Readonly<Record<string, readonly string[]>> = {
  MCPRegistry: ['configYAML', 'volumes', 'volumeMounts', 'pgpassSecretRef'],
};

export const REFUSED_NAMES: readonly string[] = [...IN_ALL, ...Object.values(IN_ONE).flat()];

const SENTENCE = 'The existing platform has this field. skep refuses it: docs/migrating.md says why.';

/** Returns a sentence about an unknown field; undefined if skep does not refuse it on purpose. `pointer`: RFC 6901. */
export function refusedFieldAdvice(kind: string, pointer: string): string | undefined {
  const name = pointerTokens(pointer).at(-1) ?? '';
  const names = [...IN_ALL, ...(Object.hasOwn(IN_ONE, kind) ? (IN_ONE[kind] ?? []) : [])];
  return names.includes(name) ? SENTENCE : undefined;
}

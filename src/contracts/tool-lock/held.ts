// Defines the tools lock in the configuration of a proxy or a virtual server: names and digests of the reviewed
// definitions.

import type { JsonObject } from '#std/json.ts';
import { type Static, Type } from '#std/json-schema.ts';
import { acceptedDigests } from './digest.ts';
import { definitionName, LOCKED_LIST_NAMES, type LockedList, type ToolLock } from './schema.ts';

const Digests = (what: string) =>
  Type.Record(Type.String(), Type.String(), {
    description: `SHA-256 digests of the reviewed definition of each ${what}, in base64url, with a space between several, by its own name.`,
  });

const HELD = {
  mode: Type.Enum(['enforce', 'report'], {
    description:
      'enforce: clients do not get definitions that differ from the lock, and cannot call them. report: they pass, and are reported.',
  }),
  tools: Digests('tool'),
  prompts: Type.Optional(Digests('prompt')),
  resourceTemplates: Type.Optional(Digests('resource template')),
};

/** Lock in the configuration of a proxy. */
export const TOOLS_LOCK = Type.Object(
  {
    ...HELD,
    parts: Type.Optional(
      Type.Array(
        Type.Object(
          {
            config_map: Type.String({ minLength: 1, description: 'ConfigMap of the namespace that has the part.' }),
            path: Type.String({ minLength: 1, description: 'File with the part.' }),
            digest: Type.String({ minLength: 1, description: 'SHA-256 of the file, in base64url.' }),
          },
          { additionalProperties: false, description: 'A part of the lock.' },
        ),
        {
          description:
            'Files with the definitions of a lock that is too large for this one. All of them are needed: a lock that is not complete is not used.',
        },
      ),
    ),
    report_to: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'ConfigMap of the namespace for reports of differences. Absent: none are reported.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'The reviewed definitions of the server. Absent: its tools are not locked.',
  },
);

/** Lock of a backend in the configuration of a virtual server. */
export const BACKEND_TOOLS_LOCK = Type.Object(HELD, {
  additionalProperties: false,
  description: 'The reviewed definitions of the backend. Absent: its tools are not locked.',
});

export type HeldLock = Static<typeof TOOLS_LOCK>;

export type LockMode = HeldLock['mode'];

/**
 * Returns the lock in the form for a proxy. If no lock exists, the result contains no definitions, so every definition
 * is new.
 */
export function heldLock(mode: LockMode, lock: ToolLock | undefined): HeldLock {
  if (lock === undefined) return { mode, tools: {}, prompts: {}, resourceTemplates: {} };
  const digests = LOCKED_LIST_NAMES.flatMap((list) => {
    const definitions: readonly JsonObject[] | undefined = lock[list];
    return definitions === undefined ? [] : [[list, digestsOf(list, definitions)] as const];
  });
  return { mode, tools: {}, ...Object.fromEntries(digests) };
}

function digestsOf(list: LockedList, definitions: readonly JsonObject[]): Record<string, string> {
  const named = definitions.map((definition): [string, string] => [
    definitionName(list, definition) ?? '',
    acceptedDigests(definition).join(' '),
  ]);
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

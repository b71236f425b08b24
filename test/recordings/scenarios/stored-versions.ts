// Versions that a server has stored: which definitions it accepts after it, and how a version leaves its status.

import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { at, MERGE_PATCH, patch, remove } from '../scenario.ts';
import { custom, define, nothing, text } from './custom-kind.ts';

const STORED = custom('Stored');

function versions(names: readonly string[], storage: string): JsonObject {
  const spec = { type: 'object', properties: { a: text } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return { versions: names.map((name) => ({ name, served: true, storage: name === storage, schema })) };
}

/** The versions, or the refusal of the server. */
function storedVersions(body: Json): Json {
  return at(body, '/status/storedVersions') ?? at(body, '/message') ?? null;
}

function redefined(reason: string, names: readonly string[], storage: string): Step {
  return patch(reason, STORED.definition, MERGE_PATCH, { spec: versions(names, storage) }, { pick: storedVersions });
}

function remembered(reason: string, names: readonly string[]): Step {
  const body = { status: { storedVersions: [...names] } };
  return patch(reason, `${STORED.definition}/status`, MERGE_PATCH, body, { pick: storedVersions });
}

export const STORED_VERSION_SCENARIOS: readonly Scenario[] = [
  {
    name: 'custom-stored-versions',
    about: 'A version that was stored stays in the definition until it is taken out of its status.',
    outside: [STORED.definition],
    ticks: true,
    steps: [
      ...define(STORED, { type: 'object', properties: { a: text } }, { spec: versions(['v1', 'v2'], 'v2') }),
      redefined('a definition without the stored version is refused', ['v1'], 'v1'),
      redefined('another version is stored', ['v1', 'v2'], 'v1'),
      redefined('the version of before may still not go', ['v1'], 'v1'),
      remembered('it leaves the status', ['v1']),
      redefined('now it may go', ['v1'], 'v1'),
      remembered('any text may be in the status', ['v1', 'v9']),
      redefined('but no definition is accepted then', ['v1', 'v2'], 'v1'),
      remove('the definition is deleted', STORED.definition, { pick: nothing }),
    ],
  },
];

// The tool `explain` of `skep mcp`: explains the state of a resource, or the meaning of a field.

import { planNow } from '#hosts/reconciler/operator/plan.ts';
import { keyOf } from '#kubernetes/rules/object.ts';
import { lastName, type SpecField } from '#reconciler/kinds/fields.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { jsonOfExplanation } from '#reconciler/report/explanations.ts';
import { jsonOfPlan } from '#reconciler/report/formats/json.ts';
import {
  COUNT,
  EXPLANATION,
  listOf,
  PAUSED,
  PROBLEM,
  record,
  TEXT,
  TIME,
} from '#reconciler/report/formats/json-schema-parts.ts';
import schema from '#reconciler/report/formats/status.json' with { type: 'json' };
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { groupKindOf, type Snapshot } from '#reconciler/run/observe/snapshot.ts';
import { resourcesOf } from '#reconciler/run/operate/resources-status.ts';
import { explain } from '#reconciler/run/plan/explain.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { findField } from '../../explain/find-field.ts';
import { boundedSchema } from '../bounded.ts';
import { childrenOf, findResource, RESOURCE_NAME } from '../find-resource.ts';
import { withPlanner } from '../opened.ts';
import { withChanges } from '../some-changes.ts';
import { data, inputSchema, type McpTool, type OperatorToolCall, textArgument } from '../tool.ts';

const RUNS_SHOWN = 5;

const RESOURCE = record(
  {
    id: TEXT,
    explanation: EXPLANATION,
    live: {
      type: 'boolean',
      description: 'Whether it exists in the cluster. Absent if the objects of its kind could not be listed.',
    },
    ready: {
      type: 'boolean',
      description: 'Absent for objects that are not custom resources of skep, and without `live`.',
    },
    troubled: {
      ...schema.properties.troubled.items,
      description: 'Its phase, and conditions that are not as they should be.',
    },
    children: listOf(EXPLANATION, 'Objects that are created for it, except unchanged ones.'),
    unchangedChildren: COUNT,
    problems: listOf(PROBLEM, 'Problems of its manifest.'),
    paused: PAUSED,
    runs: listOf(
      record({ id: TEXT, finishedAt: TIME, action: TEXT, error: record({ code: TEXT, message: TEXT }) }, ['error']),
      'Last runs that had an outcome for it, newest first.',
    ),
  },
  ['live', 'ready', 'troubled', 'paused'],
);

const FIELD = record(
  {
    kind: TEXT,
    path: TEXT,
    type: TEXT,
    description: TEXT,
    required: { type: 'boolean' },
    default: {},
    deprecated: { type: 'object' },
    limits: { type: 'object' },
    rules: listOf(TEXT),
    fields: listOf(record({ name: TEXT, type: TEXT, required: { type: 'boolean' }, description: TEXT })),
  },
  ['default', 'deprecated'],
);

export const EXPLAIN: McpTool = {
  name: 'explain',
  title: 'Explanation of a resource or a field',
  description:
    'With `resource`: why it is not ready, kept unchanged, changed or deleted: reasons, conditions, problems of its manifest, its children, and the last runs that touched it. With `field`: what a kind or a field of a manifest means, its default, limits and rules. Give one of the two.',
  inputSchema: inputSchema({
    resource: RESOURCE_NAME,
    field: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: 'Kind by any of its names, and the path of a field: MCPServer.spec.env.',
    },
  }),
  outputSchema: boundedSchema(
    record({ version: { const: 1 }, resource: RESOURCE, field: FIELD }, ['resource', 'field']),
  ),
  async call(call) {
    const [resource, field] = [textArgument(call.args, 'resource'), textArgument(call.args, 'field')];
    if (resource !== undefined && field === undefined) return explainResource(call, resource);
    if (field !== undefined && resource === undefined) {
      const found = findField(field);
      return data({ version: 1, field: jsonOfField(found.kind, found.field) });
    }
    throw new Failure('mcp-arguments', 'give either `resource` or `field`');
  },
};

function explainResource({ config, signal }: OperatorToolCall, name: string) {
  return withPlanner(config, signal, async (instance) => {
    const [{ result, prepared }, history] = await Promise.all([
      planNow(instance, config),
      instance.history.latest(config.history.limit),
    ]);
    const all = explain(prepared);
    const found = findResource(all, name);
    const key = keyOf(found.resource);
    const live = prepared.snapshot.find(found.resource);
    const presence = presenceOf(prepared.snapshot, found.resource);
    const ours = instance.options().kinds.some(({ kind }) => kind === found.resource.kind);
    const { resources, troubled } = resourcesOf(live === undefined ? [] : [live], config.children);
    const problems = result.problems.filter(({ resource }) => resource !== undefined && keyOf(resource) === key);
    const shown = JSON.parse(jsonOfPlan({ ...result, plan: withChanges(result.plan, () => false), problems }));
    const children = childrenOf(all, found.resource);
    const changed = children.filter(({ what }) => what !== 'unchanged');
    const resource = {
      id: formatId(found.resource),
      explanation: jsonOfExplanation(found),
      ...presence,
      ...(ours && presence.live !== undefined ? { ready: resources.ready > 0, troubled: troubled[0] } : {}),
      children: changed.map((each) => jsonOfExplanation(each)),
      unchangedChildren: children.length - changed.length,
      problems: shown.problems,
      paused: result.paused,
      runs: runsOf(history, formatId(found.resource)),
    };
    return data({ version: 1, resource });
  });
}

/**
 * Returns `live`, which says whether an object exists in the cluster. `live` is absent if its kind could not be listed.
 */
export function presenceOf(snapshot: Pick<Snapshot, 'find' | 'known'>, id: ResourceId): { readonly live?: boolean } {
  if (snapshot.find(id) !== undefined) return { live: true };
  return snapshot.known(groupKindOf(id)) ? { live: false } : {};
}

function runsOf(history: readonly RunRecord[], id: string): readonly object[] {
  return history
    .flatMap(({ id: run, finishedAt, outcomes }) =>
      outcomes
        .filter(({ resource }) => resource === id)
        .map(({ action, error }) => ({ id: run, finishedAt, action, error })),
    )
    .slice(0, RUNS_SHOWN);
}

function jsonOfField({ kind }: Kind, field: SpecField): JsonObject {
  const { path, type, description, required, default: fallback, deprecated, limits, rules, fields } = field;
  return JSON.parse(
    JSON.stringify({
      ...{ kind, path, type, description, required, default: fallback, deprecated, limits, rules },
      fields: fields.map((each) => ({
        name: lastName(each),
        type: each.type,
        required: each.required,
        description: each.description,
      })),
    }),
  );
}

// The tool `diff` of `skep mcp`: shows the differences of one resource and its children, field by field.

import { planNow } from '#hosts/reconciler/operator/plan.ts';
import { keyOf } from '#kubernetes/rules/object.ts';
import { jsonOfPlan } from '#reconciler/report/formats/json.ts';
import { EXPLANATION, FIELDS, record, TEXT } from '#reconciler/report/formats/json-schema-parts.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import { explain } from '#reconciler/run/plan/explain.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { boundedSchema } from '../bounded.ts';
import { childrenOf, findResource, RESOURCE_NAME } from '../find-resource.ts';
import { withPlanner } from '../opened.ts';
import { withChanges } from '../some-changes.ts';
import { data, inputSchema, type McpTool, textArgument } from '../tool.ts';

/** Returns the schema of a field in the JSON of a plan. */
function planMember(name: string): JsonObject {
  const { properties } = OUTPUT_SCHEMAS.plan;
  const member = isObject(properties) ? properties[name] : undefined;
  return isObject(member) ? member : {};
}

export const DIFF: McpTool = {
  name: 'diff',
  title: 'Difference of one resource',
  description:
    'One resource, and the objects that are created for it: fields that differ between Git (`after`) and the cluster (`before`), path by path, values of Secrets masked. `fields`: declared fields that another manager has set.',
  inputSchema: inputSchema({ resource: RESOURCE_NAME }, ['resource']),
  outputSchema: boundedSchema(
    record({
      version: { const: 1 },
      resource: TEXT,
      what: isObject(EXPLANATION.properties) ? (EXPLANATION.properties.what ?? {}) : {},
      batches: planMember('batches'),
      fields: FIELDS,
    }),
  ),
  call: ({ config, args, signal }) =>
    withPlanner(config, signal, async (instance) => {
      const { result, prepared } = await planNow(instance, config);
      const all = explain(prepared);
      const { resource, what } = findResource(all, textArgument(args, 'resource') ?? '');
      const family = new Set([resource, ...childrenOf(all, resource).map((each) => each.resource)].map(keyOf));
      const plan = withChanges(result.plan, ({ key }) => family.has(key));
      const fields = result.fields.filter((field) => family.has(keyOf(field.resource)));
      const shown = JSON.parse(jsonOfPlan({ ...result, plan, fields }));
      return data({ version: 1, resource: formatId(resource), what, batches: shown.batches, fields: shown.fields });
    }),
};

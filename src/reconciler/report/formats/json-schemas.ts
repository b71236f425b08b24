// Defines the JSON output of `validate`, `plan` and `sync`, version 1, as JSON Schemas for docs/schemas/output. The
// output has no other fields.

import type { JsonObject } from '#std/json.ts';
import {
  AGAINST,
  APPROVALS,
  APPROVED,
  COMMIT,
  COMMITS,
  COUNT,
  counts,
  DIFFERENCE,
  EXPLANATION,
  FAILURE,
  FIELDS,
  HELD,
  IMPACT,
  listOf,
  NOT_READY,
  PAUSED,
  PREVIEW,
  PROBLEM,
  QUARANTINED,
  RENDERED,
  RESOURCE,
  record,
  TEXT,
  TIME,
  TROUBLE,
  WAITS,
} from './json-schema-parts.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export const OUTPUT_SCHEMAS: Readonly<Record<'validate' | 'plan' | 'sync', JsonObject>> = {
  validate: output('skep validate -o json', {
    summary: counts('files', 'resources', 'valid', 'invalid', 'problems'),
    problems: listOf(PROBLEM),
  }),
  plan: output(
    'skep plan -o json',
    {
      commit: COMMIT,
      commits: COMMITS,
      quarantined: QUARANTINED,
      waits: WAITS,
      against: AGAINST,
      rendered: RENDERED,
      summary: counts('create', 'update', 'delete', 'unchanged', 'held'),
      batches: listOf(
        record({
          name: TEXT,
          changes: listOf(
            record(
              {
                action: { enum: ['create', 'update', 'delete'] },
                resource: RESOURCE,
                diff: listOf(DIFFERENCE),
                replaces: { const: true, description: 'The object in the cluster is deleted and created again.' },
                preview: PREVIEW,
              },
              ['replaces', 'preview'],
            ),
          ),
        }),
      ),
      held: listOf(HELD),
      approvals: APPROVALS,
      approved: APPROVED,
      fields: FIELDS,
      explanations: listOf(EXPLANATION, 'With --explain: why each object is, or is not, changed or deleted.'),
      impact: IMPACT,
      paused: PAUSED,
      ...TROUBLE,
    },
    ['against', 'rendered', 'explanations', 'impact', 'paused'],
  ),
  sync: output(
    'skep sync -o json',
    {
      run: record({ id: TEXT, commit: COMMIT, commits: COMMITS, startedAt: TIME, finishedAt: TIME, traceId: TEXT }, [
        'traceId',
      ]),
      quarantined: QUARANTINED,
      waits: WAITS,
      summary: counts('created', 'configured', 'unchanged', 'deleted', 'held', 'failed'),
      requests: { ...COUNT, description: 'API requests made.' },
      outcomes: listOf(
        record(
          {
            action: { enum: ['created', 'configured', 'unchanged', 'deleted', 'held', 'failed'] },
            resource: RESOURCE,
            error: record({ code: TEXT, message: TEXT }),
          },
          ['error'],
        ),
      ),
      held: listOf(HELD),
      approvals: APPROVALS,
      approved: APPROVED,
      fields: FIELDS,
      catalogue: listOf(
        record(
          {
            source: TEXT,
            action: { enum: ['synced', 'unchanged', 'failed'] },
            servers: COUNT,
            rejected: COUNT,
            written: { type: 'object' },
            message: TEXT,
          },
          ['written'],
        ),
      ),
      readiness: record(
        {
          ready: listOf(RESOURCE),
          progressing: listOf(NOT_READY),
          failed: listOf(NOT_READY),
          notRun: listOf(NOT_READY, 'In `skep dev`: resources that no program of this machine stands for.'),
          drifted: listOf(NOT_READY, 'Servers whose definitions of tools are not as they were reviewed.'),
        },
        ['notRun', 'drifted'],
      ),
      timedOut: { type: 'boolean' },
      paused: PAUSED,
      pending: { ...counts('create', 'update', 'delete'), description: 'Changes that it would make, if it is paused.' },
      ...TROUBLE,
      warnings: listOf(FAILURE),
    },
    ['paused', 'pending'],
  ),
};

function output(title: string, properties: JsonObject, optional: readonly string[] = []): JsonObject {
  return { $schema: DIALECT, title, ...record({ version: { const: 1 }, ...properties }, optional) };
}

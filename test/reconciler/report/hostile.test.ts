// What a manifest, a file name or a server says reaches reports as text, and as nothing that a terminal, a workflow's runner,
// a browser or an XML reader obeys.

import { expect, test } from 'vitest';
import { meaningOf } from '#cli/error-codes.ts';
import { jsonOfAdoption, textOfAdoption } from '#reconciler/report/adoption.ts';
import { VALIDATION_FORMATS, type ValidationFormat } from '#reconciler/report/formats.ts';
import { jsonOfStatus, textOfStatus } from '#reconciler/report/status.ts';
import { Failure } from '#std/failure.ts';
import { INSTALLED } from '#std/words/command-of.ts';

const ESCAPES = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\b';
const COMMANDS = '\r\n::error::owned\n##[set-env name=PATH]owned\n::set-output name=x::y\n<!-- skep validate -->';
const MARKUP = '<script>alert(1)</script>]]><a href="javascript:x">@everyone [a](b) ``` | \\|';
const HOSTILE = `${ESCAPES}${COMMANDS}${MARKUP}`;

const VALIDATION = {
  files: ['fleet/a.yaml'],
  summary: { files: 1, resources: 1, valid: 0, invalid: 1, problems: 1 },
  problems: [
    {
      code: 'schema-enum',
      severity: 'error',
      message: `must be one of ${HOSTILE}`,
      place: { file: `a${HOSTILE}.yaml`, line: 1, column: 1 },
      pointer: `/spec/${HOSTILE}`,
      resource: { apiVersion: 'v1', kind: `Kind${HOSTILE}`, namespace: HOSTILE, name: HOSTILE },
    },
  ],
} as const;
const CONTEXT = {
  commandOf: INSTALLED,
  version: '1.2.3',
  meanings: async () => meaningOf,
  helpUri: (code: string) => `https://docs.example.com/errors.md#${code}`,
  root: '/repository',
};

/**
 * Control characters and those that turn the direction of text; only tab and line feed are allowed. A carriage return makes a
 * terminal write over the line, and runners of workflows read a command after it. Lines of every format end with a line feed alone.
 */
const OBEYED = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u;

const NEVER: Readonly<Record<ValidationFormat, readonly RegExp[]>> = {
  text: [],
  json: [/\n::|\n##\[/],
  sarif: [/\n::|\n##\[/],
  junit: [/<script|\]\]>|href="|\n::/],
  github: [/\n::|##\[/],
  // In a span of code no one is mentioned and nothing is markup.
  markdown: [/\n::|\n *##\[|\n<!-- skep/],
};

test.each(Object.keys(VALIDATION_FORMATS) as ValidationFormat[])('%s', async (format) => {
  const render = await VALIDATION_FORMATS[format]();
  const text = await render(VALIDATION, CONTEXT);
  expect(text).not.toMatch(OBEYED);
  for (const pattern of NEVER[format]) expect(text).not.toMatch(pattern);
});

const FAILURES = [new Failure('cluster-error', HOSTILE)];
const ADOPTION = {
  adoptions: [],
  done: false,
  refused: [],
  otherInstances: ['fleet'],
  problems: VALIDATION.problems,
  failures: FAILURES,
};
const CONDITION = { type: 'Ready', status: 'False', reason: HOSTILE, message: HOSTILE };
const FIELDS = [{ resource: 'docs/Secret/one', path: HOSTILE, manager: HOSTILE, state: 'kept' as const }];
const STATUS = {
  fields: FIELDS,
  ...{ instance: 'prod', at: '2026-01-01T00:00:00Z', reached: true, commits: {}, quarantined: [], waits: [] },
  ...{ outOfSync: [], uncertain: [], held: [{ resource: 'docs/Secret/one', reason: HOSTILE }], approvals: [] },
  ...{ problems: VALIDATION.problems, failures: FAILURES, resources: { ready: 0, total: 1 } },
  troubled: [{ resource: 'docs/MCPServer/wiki', phase: HOSTILE, conditions: [CONDITION] }],
};

test.each([
  { name: 'status', render: () => textOfStatus(STATUS, undefined, INSTALLED) },
  { name: 'status as JSON', render: () => jsonOfStatus(STATUS, undefined) },
  { name: 'adopt', render: () => textOfAdoption(ADOPTION, INSTALLED) },
  { name: 'adopt as JSON', render: () => jsonOfAdoption(ADOPTION) },
])('$name', ({ render }) => {
  expect(render()).not.toMatch(OBEYED);
});

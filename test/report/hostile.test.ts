// What a manifest, a file name or a server says reaches reports as text, and as nothing that a terminal, a workflow's runner,
// a browser or an XML reader obeys.

import { expect, test } from 'vitest';
import { meaningOf } from '../../src/main/error-codes.ts';
import { VALIDATION_FORMATS, type ValidationFormat } from '../../src/report/formats.ts';

const ESCAPES = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\b';
const COMMANDS = '\r\n::error::owned\n##[set-env name=PATH]owned\n::set-output name=x::y\n<!-- skep validate -->';
const MARKUP = '<script>alert(1)</script>]]><a href="javascript:x">@everyone [a](b) ``` | \\|';
const HOSTILE = `${ESCAPES}${COMMANDS}${MARKUP}`;

const VALIDATION = {
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
  version: '1.2.3',
  meanings: async () => meaningOf,
  helpUri: (code: string) => `https://docs.example.com/errors.md#${code}`,
  root: '/repository',
};

const NEVER: Readonly<Record<ValidationFormat, readonly RegExp[]>> = {
  text: [],
  json: [/\n::|\n##\[/],
  sarif: [/\n::|\n##\[/],
  junit: [/<script|\]\]>|href="|\n::/],
  github: [/\n::|##\[/],
  // In a span of code nobody is mentioned and nothing is markup.
  markdown: [/\n::|\n *##\[|\n<!-- skep/],
};

test.each(Object.keys(VALIDATION_FORMATS) as ValidationFormat[])('%s', async (format) => {
  const render = await VALIDATION_FORMATS[format]();
  const text = await render(VALIDATION, CONTEXT);
  expect(text).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
  for (const pattern of NEVER[format]) expect(text).not.toMatch(pattern);
});

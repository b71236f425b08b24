// One story in every format, held against what it printed before (UPDATE_EXPECTED=1 writes it again) and against what the
// readers of each format ask for.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { commandLine } from '#cli/command-line.ts';
import { meaningOf } from '#cli/error-codes.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { ReportContext } from '#reconciler/report/context.ts';
import { jsonOfPlan, jsonOfRun, jsonOfValidation } from '#reconciler/report/formats/json.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import { formatNames, PLAN_FORMATS, VALIDATION_FORMATS } from '#reconciler/report/formats.ts';
import type { ReportedValidation } from '#reconciler/report/validation.ts';
import { validate } from '#reconciler/run/validate.ts';
import type { Problem } from '#std/problem.ts';
import { expectFile } from '../../harness/expected-file.ts';
import { sampleRun } from './sample-run.ts';
import { junitFaults, XSD_SOURCE, xsdVerdict } from './xml.ts';

const STORY = fileURLToPath(new URL('story', import.meta.url));
const EXPECTED = fileURLToPath(new URL('expected', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const CONTEXT: ReportContext = {
  version: '1.2.3',
  commandOf: (words) => `skep ${words} -c prod.yaml`,
  meanings: async () => meaningOf,
  helpUri: (code) => `https://docs.example.com/errors.md#${code}`,
  root: '/checkout',
  linkTo: ({ file, line }) => `https://git.example.com/${encodeURI(file)}#L${line}`,
  fullReport: 'https://ci.example.com/runs/7',
};

function story() {
  const files = readdirSync(join(STORY, 'fleet')).sort();
  const documents = files.map((name) => {
    const text = readFileSync(join(STORY, 'fleet', name), 'utf8');
    return { path: `fleet/${name}`, oid: text, text };
  });
  return validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
}

/** So many errors that no format shows all of them without a thought. */
function many(count: number): ReportedValidation {
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'docs', name: 'settings' };
  const problems = Array.from({ length: count }, (_, index): Problem => {
    const place = { file: `fleet/${index}.yaml`, line: 3, column: 5 };
    const severity = index % 2 === 0 ? 'warning' : 'error';
    return {
      code: 'schema-type',
      severity,
      message: `data.${index} must be a string.`,
      place,
      pointer: '/data',
      resource,
    };
  });
  return {
    files: [],
    summary: { files: count, resources: count, valid: 0, invalid: count, problems: count },
    problems,
  };
}

function check(name: string, text: string): void {
  expectFile(join(EXPECTED, name), text);
}

describe('every format of the table', () => {
  test.each(formatNames(VALIDATION_FORMATS))('validate -o %s', async (name) => {
    const render = await VALIDATION_FORMATS[name as keyof typeof VALIDATION_FORMATS]();
    check(`validate.${name}.txt`, await render(story(), CONTEXT));
  });

  test.each(formatNames(PLAN_FORMATS))('plan -o %s', async (name) => {
    const render = await PLAN_FORMATS[name as keyof typeof PLAN_FORMATS]();
    check(`plan.${name}.txt`, await render(sampleRun(), CONTEXT));
  });

  test('is offered by the command, and explained in docs/ci.md', () => {
    const guide = readFileSync(join(ROOT, 'docs/ci.md'), 'utf8');
    for (const [command, formats] of Object.entries({ validate: VALIDATION_FORMATS, plan: PLAN_FORMATS })) {
      const options = commandLine().commands.find((each) => each.name() === command)?.options ?? [];
      const output = options.find(({ long }) => long === '--output');
      expect(output?.argChoices).toEqual(formatNames(formats));
    }
    expect(formatNames(VALIDATION_FORMATS).filter((name) => !guide.includes(`| \`${name}\` |`))).toEqual([]);
    const ofPlans = /^`skep plan` has ([^;]*);/m.exec(guide)?.[1] ?? '';
    expect([...ofPlans.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(formatNames(PLAN_FORMATS));
  });

  test('has nothing expected of it that is not a format', () => {
    const names = [
      ...formatNames(VALIDATION_FORMATS).map((name) => `validate.${name}.txt`),
      ...formatNames(PLAN_FORMATS).map((name) => `plan.${name}.txt`),
    ];
    expect(readdirSync(EXPECTED).sort()).toEqual(names.sort());
  });
});

describe('SARIF', () => {
  const { $schema: _dialect, id: _id, ...schema } = sarifSchema;
  // Draft 4 with formats; what is between drafts is not used by this schema.
  const isSarif = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);

  async function logOf(validation: ReportedValidation) {
    const render = await VALIDATION_FORMATS.sarif();
    return JSON.parse(await render(validation, CONTEXT));
  }

  test('is what its JSON Schema asks for', async () => {
    isSarif(await logOf(story()));
    expect(isSarif.errors).toBeNull();
    isSarif({ ...(await logOf(story())), runs: [{}] });
    expect(isSarif.errors).not.toBeNull();
  });

  test('has every rule explained, and every result below the top of the repository', async () => {
    const [run] = (await logOf(story())).runs;
    const { rules } = run.tool.driver;
    expect(rules.filter(({ fullDescription }: Rule) => fullDescription.text === '')).toEqual([]);
    for (const { ruleId, ruleIndex, locations } of run.results) {
      expect(rules[ruleIndex].id).toBe(ruleId);
      const { artifactLocation } = locations[0].physicalLocation;
      expect(artifactLocation.uriBaseId).toBe('%SRCROOT%');
      expect(artifactLocation.uri).toMatch(/^[A-Za-z0-9/._%-]+$/);
    }
  });

  test('knows a problem again when its line has moved, and tells the second of a kind from the first', async () => {
    const prints = async (problems: readonly Problem[]) => {
      const [run] = (await logOf({ ...story(), problems })).runs;
      return run.results.map((result: Result) => result.partialFingerprints.primaryLocationLineHash);
    };
    const [first] = story().problems;
    if (first?.place === undefined) throw new Error('the story has a problem with a place');
    const moved = { ...first, place: { ...first.place, line: 40 }, message: 'in other words' };
    const [before, twice] = [await prints([first]), await prints([moved, moved])];
    expect(twice).toEqual([before[0], before[0].replace(/:1$/, ':2')]);
  });

  test('has as many results as code scanning takes, errors first, and says what is missing', async () => {
    const [run] = (await logOf(many(25_002))).runs;
    expect(run.results).toHaveLength(25_000);
    expect(run.results[0].level).toBe('error');
    expect(run.invocations[0].toolExecutionNotifications[0].message.text).toBe(
      '2 more problems were left out of this report.',
    );
  });

  test('names a problem that has no place, and a file outside of the repository', async () => {
    const problems: Problem[] = [
      { code: 'encoding-invalid', severity: 'error', message: 'no UTF-8' },
      { code: 'schema-type', severity: 'error', message: 'x', place: { file: '/else/a b.yaml', line: 1, column: 1 } },
    ];
    const [run] = (await logOf({ ...story(), problems })).runs;
    expect(run.invocations[0].toolExecutionNotifications[0].associatedRule.id).toBe('encoding-invalid');
    expect(run.results[0].locations[0].physicalLocation.artifactLocation).toEqual({ uri: 'file:///else/a%20b.yaml' });
  });
});

interface Rule {
  readonly fullDescription: { readonly text: string };
}

interface Result {
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
}

describe('JSON', () => {
  // Fields that appear under conditions are in the sample, so that none of them is forgotten.
  test.each([
    { command: 'validate', text: jsonOfValidation(story()) },
    { command: 'plan', text: jsonOfPlan(sampleRun()) },
    { command: 'sync', text: jsonOfRun(sampleRun()) },
  ] as const)('of $command is what its published schema says', ({ command, text }) => {
    const isOutput = new Ajv2020().compile(OUTPUT_SCHEMAS[command]);
    isOutput(JSON.parse(text));
    expect(isOutput.errors).toBeNull();
    const published = readFileSync(join(ROOT, `docs/schemas/output/${command}.json`), 'utf8');
    expect(JSON.parse(published)).toEqual(OUTPUT_SCHEMAS[command]);
  });
});

describe('JUnit', () => {
  async function xmlOf(problems: readonly Problem[]): Promise<string> {
    const render = await VALIDATION_FORMATS.junit();
    return render({ ...story(), problems }, CONTEXT);
  }

  test('has the elements and attributes that its readers know, and counts what is there', async () => {
    expect(junitFaults(await xmlOf(story().problems))).toEqual([]);
    expect(junitFaults('<testsuites><testsuite tests="2"></testsuite></testsuites>')).not.toEqual([]);
  });

  test('is well-formed whatever a message holds', async () => {
    const message = 'a \u0000 \ud800 ]]> <b> & "quotes" \n second line';
    expect(junitFaults(await xmlOf([{ code: 'schema-type', severity: 'error', message }]))).toEqual([]);
  });

  test('is valid by the XSD, where it and xmllint are at hand', async () => {
    const verdict = xsdVerdict(await xmlOf(story().problems));
    if (verdict === undefined) process.stderr.write(`JUnit XSD check skipped: it needs xmllint and ${XSD_SOURCE}\n`);
    else expect(verdict).toBe('');
  });
});

describe('GitHub annotations', () => {
  const commands = (text: string) => text.split('\n').filter((line) => /^\s*::/.test(line));

  test('are the only lines that the runner takes for commands', async () => {
    const render = await VALIDATION_FORMATS.github();
    const lines = commands(await render(story(), CONTEXT));
    expect(lines.every((line) => /^::(error|warning) (file=[^:,]+,line=\d+,col=\d+,)?title=[^:,]+::/.test(line))).toBe(
      true,
    );
    expect((await render(story(), CONTEXT)).includes('##[')).toBe(false);
  });

  test('are at most ten of a sort, the last of which says how many are in the log', async () => {
    const render = await VALIDATION_FORMATS.github();
    const text = await render(many(40), CONTEXT);
    const errors = commands(text).filter((line) => line.startsWith('::error'));
    expect(errors).toHaveLength(10);
    expect(errors.at(-1)).toBe('::error title=skep::11 more of them are in the log of this step');
    expect(text.split('\n').filter((line) => line.startsWith('- fleet/'))).toHaveLength(22);
  });
});

describe('Markdown', () => {
  test('starts with its marker, so that the comment is found again', async () => {
    const render = await VALIDATION_FORMATS.markdown();
    expect((await render(story(), CONTEXT)).split('\n')[0]).toBe('<!-- skep validate -->');
    expect((await render({ ...story(), problems: [] }, CONTEXT)).split('\n')[0]).toBe('<!-- skep validate -->');
  });

  test('is cut between rows where GitHub would refuse it, and links the whole', async () => {
    const render = await VALIDATION_FORMATS.markdown();
    const text = await render(many(4000), CONTEXT);
    expect(Buffer.byteLength(text)).toBeLessThan(65_536);
    expect(text).toMatch(
      /\|\n\n\d+ more are left out here: \[the report in full\]\(https:\/\/ci\.example\.com\/runs\/7\)\.\n$/,
    );
    expect(text.split('\n').filter((line) => line.startsWith('| ❌')).length).toBeGreaterThan(100);
  });
});

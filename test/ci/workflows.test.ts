// The workflows and the action that GitHub runs: they are what its schema asks for, nothing of a commit becomes part of a
// script, and the action's scripts do what they say. The runner itself and GitHub's API are not here: `gh` is a script that
// writes down how it is called.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandLine } from '#cli/command-line.ts';
import { VERSION } from '#hosts/version.ts';
import { schemaFaults } from './github-schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ACTION = join(ROOT, '.github/actions/validate');

const WORKFLOWS = [
  ...readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`),
  'manifests/init/.github/workflows/validate.yaml',
  'manifests/ci/github-plan.yaml',
];
const ALL = [...WORKFLOWS, '.github/actions/validate/action.yml', '.github/actions/plan/action.yml'];

/** By tag, because no commit of it is known for sure. */
const BY_TAG = [
  'github/codeql-action/upload-sarif@v3',
  'skep-dev/skep/.github/actions/validate@v0.0.0',
  `skep-dev/skep/.github/actions/plan@v${VERSION}`,
];

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function stepsOf(path: string): readonly Step[] {
  const file = parse(text(path));
  if (file.runs !== undefined) return file.runs.steps;
  return Object.values<{ steps: Step[] }>(file.jobs).flatMap(({ steps }) => steps);
}

test.each(ALL)('%s is what GitHub reads', (path) => {
  expect(schemaFaults(path, text(path))).toEqual([]);
});

test('what GitHub does not read is told', () => {
  expect(schemaFaults('x.yml', 'on: push\njobs: {a: {runs-on: x, stepss: []}}\n')).not.toEqual([]);
});

test.each(ALL)('%s names foreign actions by commit, with the version beside it', (path) => {
  const uses = stepsOf(path).flatMap((step) => step.uses ?? []);
  const foreign = uses.filter((name) => !name.startsWith('./') && !BY_TAG.includes(name));
  expect(foreign.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
  for (const name of foreign) expect(text(path)).toMatch(new RegExp(`${name} # v\\d`));
});

test.each(ALL)('%s makes no script of an expression', (path) => {
  expect(stepsOf(path).filter(({ run }) => run?.includes('${{'))).toEqual([]);
});

test.each(WORKFLOWS)('%s may only read, unless a job says more', (path) => {
  expect(parse(text(path)).permissions).toEqual({ contents: 'read' });
});

describe('docs/ci.md', () => {
  const blocks = [...text('docs/ci.md').matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)];
  const block = (name: string) => blocks.find(([, path]) => path === name)?.[2] ?? '';

  test('shows a workflow that GitHub reads, with inputs that the action has', () => {
    const workflow = block('.github/workflows/validate.yaml');
    expect(schemaFaults('validate.yaml', workflow)).toEqual([]);
    const given = parse(workflow).jobs.validate.steps[1].with;
    const { inputs } = parse(text('.github/actions/validate/action.yml'));
    expect(Object.keys(given).filter((name) => inputs[name] === undefined)).toEqual([]);
    for (const name of Object.keys(inputs).filter((each) => each !== 'token')) {
      expect(text('docs/ci.md')).toContain(`| \`${name}\` |`);
    }
  });

  // What runs on GitLab and in pre-commit is not run here: that the commands are calls of skep is.
  test('shows calls of skep that are understood', () => {
    const calls = [
      ...parse(block('.gitlab-ci.yml')).validate.script,
      ...parse(block('.pre-commit-config.yaml')).repos[0].hooks.map(({ entry }: { entry: string }) => entry),
    ];
    for (const call of calls) {
      const [, command = '', ...words] = call.replace(/ [>|].*$/, '').split(' ');
      const validate = commandLine().commands.find((each) => each.name() === command);
      expect(validate?.parseOptions(words).unknown, call).toEqual([]);
    }
    expect(calls).toHaveLength(3);
  });
});

describe('the action', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'action-'));
    // Writes down its arguments and the body that it would send; lists what KNOWN says.
    const gh = '#!/usr/bin/env bash\necho "$*" >>"$CALLS"\nif [[ $* == *--paginate* ]]; then echo "$KNOWN"; fi\n';
    writeFileSync(join(folder, 'gh'), gh);
    chmodSync(join(folder, 'gh'), 0o755);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(script: string, environment: Readonly<Record<string, string>>) {
    const files = { GITHUB_OUTPUT: 'output', GITHUB_STEP_SUMMARY: 'summary', CALLS: 'calls' };
    const paths = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]));
    for (const path of Object.values(paths)) writeFileSync(path, '');
    const env = { HOME: folder, KNOWN: '', RUNNER_TEMP: folder, ACTION, ...paths, ...environment };
    const path = `${folder}:${fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))}:${process.env.PATH}`;
    const { status, stdout, stderr } = spawnSync('bash', [join(ACTION, script)], {
      cwd: ROOT,
      env: { ...env, PATH: path },
      encoding: 'utf8',
    });
    const read = (file: string) => readFileSync(join(folder, file), 'utf8');
    return { status, stdout, stderr, output: read('output'), summary: read('summary'), calls: read('calls') };
  }

  test('annotates, and writes SARIF and Markdown where something is wrong', () => {
    const { status, stdout, output, summary } = run('validate.sh', {
      PATHS: 'test/reconciler/report/story\n',
      POLICIES: 'builtin',
    });
    expect(status).toBe(0);
    expect(stdout).toContain('::error file=test/reconciler/report/story/fleet/wiki.yaml,line=6,col=14');
    expect(output).toMatch(/^exit-code=3\nsarif-file=.*\/skep\.sarif\nmarkdown-file=.*\/skep\.md\n$/);
    const [sarif = ''] = /(?<=sarif-file=).*/.exec(output) ?? [];
    expect(JSON.parse(readFileSync(sarif, 'utf8')).version).toBe('2.1.0');
    expect(summary).toMatch(/^<!-- skep validate -->\n/);
  });

  test('takes a path for a path, whatever it looks like', () => {
    const { stderr, output } = run('validate.sh', { PATHS: '$(touch hacked)\n--no-cache; x' });
    expect(stderr).toContain('$(touch hacked): no such file or folder');
    expect(output).toBe('exit-code=64\n');
  });

  test.each<{ known: string; call: string }>([
    { known: '', call: 'api --method POST repos/o/r/issues/7/comments' },
    { known: '41', call: 'api --method PATCH repos/o/r/issues/comments/41' },
  ])('comments with $call where "$known" is known', ({ known, call }) => {
    const report = join(folder, 'report.md');
    writeFileSync(report, '<!-- skep validate -->\ntext\n');
    const { status, calls } = run('comment.sh', {
      GITHUB_REPOSITORY: 'o/r',
      NUMBER: '7',
      REPORT: report,
      KNOWN: known,
    });
    expect(status).toBe(0);
    expect(calls.split('\n')[1]).toBe(`${call} --field body=@${report} --silent`);
  });

  test('does not comment where there is no report', () => {
    expect(run('comment.sh', { REPORT: '' })).toMatchObject({ status: 0, calls: '' });
  });
});

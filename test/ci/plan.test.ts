// The workflow and the job of manifests/ci: their script lines run against a real clone, as a runner would run them.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '#hosts/version.ts';
import { createRepository, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { schemaFaults } from './github-schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const GITHUB = 'manifests/ci/github-plan.yaml';
const GITLAB = 'manifests/ci/gitlab-plan.yaml';

let folder: ReturnType<typeof temporaryFolder>;
let bin: string;
let origin: TestRepository;
let count = 0;

beforeAll(() => {
  folder = temporaryFolder();
  bin = join(folder.path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'skep'), `#!/usr/bin/env bash\nexec '${process.execPath}' '${ROOT}src/skep.ts' "$@"\n`);
  chmodSync(join(bin, 'skep'), 0o755);
});

beforeEach(() => {
  count += 1;
  origin = createRepository(join(folder.path, `origin-${count}`));
  origin.commit({ 'clusters/prod/clock.yaml': server('clock', '1') });
  origin.git('checkout', '--quiet', '-b', 'topic');
  origin.commit({ 'clusters/prod/clock.yaml': server('clock', '2') });
  origin.git('checkout', '--quiet', 'main');
  origin.commit({ 'clusters/prod/owl.yaml': server('owl', '1') });
});

afterAll(() => folder.remove());

function server(name: string, version: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec: {image: "example.com/${name}:${version}", transport: streamable-http}
`;
}

function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function cloneOf(...options: readonly string[]): string {
  const clone = join(folder.path, `clone-${count}`);
  execFileSync('git', ['clone', '--quiet', ...options, `file://${origin.dir}`, clone]);
  execFileSync('git', ['-C', clone, 'checkout', '--quiet', '--detach', 'origin/topic']);
  return clone;
}

function run(cwd: string, script: string, env: Readonly<Record<string, string>>) {
  const path = `${bin}:${join(process.execPath, '..')}:${process.env.PATH}`;
  return spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd,
    env: { HOME: folder.path, ...env, PATH: path },
    encoding: 'utf8',
  });
}

test('the workflow is what GitHub reads, with inputs that the action has, of this version', () => {
  expect(schemaFaults('plan.yaml', text(GITHUB))).toEqual([]);
  const [, { uses, with: given }] = parse(text(GITHUB)).jobs.plan.steps;
  const { inputs } = parse(text('.github/actions/plan/action.yml'));
  expect(Object.keys(given).filter((name) => inputs[name] === undefined)).toEqual([]);
  expect(uses).toBe(`skep-dev/skep/.github/actions/plan@v${VERSION}`);
  expect(text(GITHUB).split('\n').length).toBeLessThan(15);
  expect(text(GITLAB).split('\n').length).toBeLessThan(15);
  expect(parse(text(GITLAB)).plan.image.name).toBe(`ghcr.io/skep-dev/skep:${VERSION}`);
});

test.each([
  ['.github/workflows/plan.yaml', GITHUB],
  ['.gitlab-ci.yml', GITLAB],
])('docs/only-the-plan.md shows %s as it is', (name, file) => {
  const blocks = [...text('docs/only-the-plan.md').matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)];
  const shown = blocks.find(([, path]) => path === name)?.[2];
  expect(shown).toBe(text(file).replace(/^#.*\n/, ''));
});

test('the job of GitLab writes Markdown, prints the plan and passes', () => {
  const clone = cloneOf();
  const { plan } = parse(text(GITLAB));
  const base = origin.git('merge-base', 'main', 'topic');
  const { status, stdout } = run(clone, plan.script.join('\n'), { CI_MERGE_REQUEST_DIFF_BASE_SHA: base });
  expect(status).toBe(0);
  expect(stdout).toContain('  ~ tools/MCPServer/clock\n');
  expect(stdout).toContain('0 to create, 1 to update, 0 to delete');
  const [markdown] = plan.artifacts.paths;
  expect(readFileSync(join(clone, markdown), 'utf8')).toContain('### skep plan: 0 to create, 1 to update, 0 to delete');
});

test('the job of GitLab fails for an invalid manifest, with the artifact', () => {
  origin.git('checkout', '--quiet', 'topic');
  origin.commit({ 'clusters/prod/clock.yaml': server('clock', '3').replace('image', 'imge') });
  const clone = cloneOf();
  const { plan } = parse(text(GITLAB));
  const base = origin.git('merge-base', 'main', 'topic');
  expect(run(clone, plan.script.join('\n'), { CI_MERGE_REQUEST_DIFF_BASE_SHA: base }).status).toBe(3);
  expect(readFileSync(join(clone, 'plan.md'), 'utf8')).toContain('### ❌ skep plan');
});

/** Runs the scripts of the action's own steps for the inputs of the workflow, as far as they are scripts of ours. */
function runAction(clone: string, event: Readonly<Record<string, string>> = { GITHUB_BASE_REF: 'main' }) {
  const { runs } = parse(text('.github/actions/plan/action.yml'));
  const [, { with: inputs }] = parse(text(GITHUB)).jobs.plan.steps;
  const step = runs.steps.find(({ id }: { id?: string }) => id === 'plan');
  const files = { GITHUB_OUTPUT: join(clone, '../output'), GITHUB_STEP_SUMMARY: join(clone, '../summary') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const environment = {
    ...files,
    ACTION: join(ROOT, '.github/actions/plan'),
    PATHS: inputs.paths,
    BASE: inputs.base ?? '',
    ...event,
    RUNNER_TEMP: folder.path,
  };
  expect(Object.keys(step.env).filter((name) => !(name in environment))).toEqual([]);
  const { status, stdout, stderr } = run(clone, step.run, environment);
  const [output, summary] = Object.values(files).map((file) => readFileSync(file, 'utf8'));
  return { status, stdout, stderr, output, summary };
}

test('the action compares with the base branch, and writes SARIF and Markdown', () => {
  const { status, output = '', summary } = runAction(cloneOf());
  expect(status).toBe(0);
  expect(output).toMatch(/^exit-code=0\nsarif-file=.*\/skep\.sarif\nmarkdown-file=.*\/skep\.md\n$/);
  const [sarif = ''] = /(?<=sarif-file=).*/.exec(output) ?? [];
  expect(JSON.parse(readFileSync(sarif, 'utf8')).version).toBe('2.1.0');
  expect(summary).toMatch(/^<!-- skep plan clusters\/prod -->\n### skep plan: 0 to create, 1 to update, 0 to delete/);
});

test('the action asks for a base outside of a pull request', () => {
  const clone = cloneOf();
  // GitHub sets the variable for every event, and leaves it empty for a push.
  const { stdout, output, summary } = runAction(clone, { GITHUB_BASE_REF: '' });
  expect(stdout).toMatch(/^::error title=usage::.* is not a pull request, .*: set "base" of the action to /);
  expect([output, summary]).toEqual(['exit-code=64\n', '']);
  expect(runAction(clone, { GITHUB_BASE_REF: '', BASE: 'origin/main' }).output).toMatch(/^exit-code=0\n/);
});

test('a checkout without the history fails, with the setting that brings it', () => {
  const { output, stderr } = runAction(cloneOf('--depth=1', '--no-single-branch'));
  expect(output).toBe('exit-code=1\n');
  expect(stderr).toContain('error git-history-missing: ');
  expect(stderr).toContain('fetch-depth: 0');
});

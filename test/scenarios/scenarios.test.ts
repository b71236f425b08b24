// Stories of the run: what exists (`before/` was applied), what Git says now (`after/`), and what comes of it
// (`expected.txt`: problems, plan, outcome, and what exists in the end). SKEP_UPDATE=1 writes the expectations anew.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { textOfPlan, textOfRun } from '#reconciler/report/text.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { readyCondition } from '#reconciler/run/settle/readiness.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import type { TestRepository } from '../harness/git-server.ts';
import { API_GROUP, startWorld, type World } from '../harness/world.ts';
import { openCatalogue } from './catalogue.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const STORIES = readdirSync(HERE, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

for (const story of STORIES) {
  test(story.replaceAll('-', ' '), async () => {
    const actual = await tellStory(join(HERE, story));
    const file = join(HERE, story, 'expected.txt');
    if (process.env.SKEP_UPDATE === '1') writeFileSync(file, actual);
    expect(actual).toBe(readFileSync(file, 'utf8'));
  });
}

async function tellStory(dir: string): Promise<string> {
  const [world, catalogue] = await Promise.all([startWorld(), openCatalogue()]);
  try {
    const limits = { limits: { maxDeletes: 20, maxDeletesPercent: 60 }, registries: catalogue.registries };
    if (existsSync(join(dir, 'before'))) {
      replaceFleet(world.fleet, filesOf(join(dir, 'before')));
      await world.run(limits);
    }
    replaceFleet(world.fleet, filesOf(join(dir, 'after')));
    const plan = textOfPlan(await world.plan(limits));
    const result = await world.run(limits);
    const again = await world.run(limits);
    const objects = await members(world);
    const living = objects.map((object) => formatId(idOf(object))).sort();
    return [
      '# plan',
      steady(plan),
      '',
      `# run, exit code ${exitCodeOf(result)}`,
      steady(textOfRun(result)),
      '',
      '# the same commit again',
      steady(textOfRun(again)),
      '',
      '# lives in the end',
      ...living,
      '',
      '# what they say of themselves',
      ...objects.flatMap(reported).sort(),
      '',
    ].join('\n');
  } finally {
    await Promise.all([world.close(), catalogue.close()]);
  }
}

/** Phase, address, why it is ready or not, and what else is not as it should be. */
function reported(object: KubeObject): readonly string[] {
  const { status } = object;
  if (!object.apiVersion.startsWith(`${API_GROUP}/`) || !isObject(status)) return [];
  const ready = readyCondition(status);
  const others = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const wrong = others.filter(
    ({ type, status: holds }) => type !== 'Ready' && (holds === 'True') === isComplaint(type),
  );
  return [
    [
      `${formatId(idOf(object))}: ${status.phase ?? status.validationStatus ?? '-'}`,
      ...(status.url === undefined ? [] : [` ${status.url}`]),
      ` Ready ${ready?.status} ${ready?.reason}: ${ready?.message}`,
      ...wrong.map(({ type, reason, message }) => `; ${type} ${reason}: ${message}`),
    ].join(''),
  ];
}

/** Conditions that are there to say what is wrong. */
function isComplaint(type: unknown): boolean {
  return ['StdioReplicaCapped', 'SessionStorageWarning', 'Degraded', 'DeletionBlocked'].includes(String(type));
}

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replace(/\(\d+ API requests, [\d.]+ s\)/, '')
    .replace(/approval \([0-9a-f]{16}\)/, 'approval (HASH)')
    .replace(/skep approve [0-9a-f]{16}/, 'skep approve HASH')
    .replaceAll(/(secrets-checksum: )"[0-9a-f]{64}" -> "[0-9a-f]{64}"/g, '$1"HMAC" -> "another HMAC"')
    .replaceAll(/(secrets-checksum: )"[0-9a-f]{64}"/g, '$1"HMAC"')
    .trimEnd();
}

function filesOf(dir: string): Record<string, string> {
  if (!existsSync(dir)) return {};
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ name, parentPath }) => [`cluster/${name}`, readFileSync(join(parentPath, name), 'utf8')]),
  );
}

function replaceFleet(fleet: TestRepository, files: Record<string, string>): void {
  const listed = fleet
    .git('ls-files')
    .split('\n')
    .filter((path) => path !== '' && files[path] === undefined);
  fleet.commit({ ...Object.fromEntries(listed.map((path) => [path, undefined])), ...files });
}

/** What carries our label and is not being deleted. */
async function members({ client }: World): Promise<KubeObject[]> {
  const applySet = applySetId('test', 'default');
  const resources = (await client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const lists = await Promise.all(resources.map((each) => client.list(each)));
  return lists
    .flat()
    .filter(({ metadata }) => metadata.labels?.[PART_OF] === applySet && metadata.deletionTimestamp === undefined);
}

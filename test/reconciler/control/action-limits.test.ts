// The limits of actions: few wait at a time, a list that nobody can read is not confirmed, and logins come in bounds.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '#hosts/config/read-config.ts';
import { createActionRecord } from '#hosts/reconciler/console/action-record.ts';
import { openActions } from '#hosts/reconciler/console/actions.ts';
import type { Actions, Login } from '#reconciler/control/ports.ts';
import { NOTHING_WAITS } from '#reconciler/run/fleet-state/waiting.ts';
import { instanceFolder } from '../../harness/instance.ts';
import { startWorld } from '../../harness/world.ts';
import { controlApp } from './control-app.ts';

function actionsFor(text: string): Actions {
  const config = readConfig({ text, file: 'skep.yaml', environment: {} });
  const record = createActionRecord(() => undefined);
  return openActions({ config, record, waiting: () => NOTHING_WAITS, run: () => undefined });
}

test('actions are carried out one after the other, and only a few wait', async () => {
  const actions = actionsFor('sources: [{name: fleet, repository: "https://git.example.com/fleet.git"}]');
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let underWay = 0;
  const use = async () => {
    underWay += 1;
    expect(underWay).toBe(1);
    await over;
    underWay -= 1;
  };
  const started = Array.from({ length: 9 }, () => actions.prepare('sync', {}, use));
  await expect(actions.prepare('sync', {}, use)).rejects.toMatchObject({ code: 'action-busy', retryable: true });
  end();
  await Promise.all(started);
  await actions.prepare('sync', {}, async () => undefined);
});

test('a list that stands for all changes of an instance with other sources is not approved by a click', async () => {
  const world = await startWorld({ workloadsReadyAfterMs: 0 });
  const folder = instanceFolder(world);
  const from = (path: string) => {
    const repository = `${world.git.url}/fleet.git`;
    folder.configure({ name: 'moved', sources: [{ name: 'fleet', repository, branch: 'main', path }] });
  };
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n';
  world.fleet.commit({ 'one/map.yaml': map, 'two/map.yaml': map.replace('name: a', 'name: b') });
  from('one');
  await folder.use((instance) => instance.run({ waitSeconds: 0 }));
  from('two');
  const [, hash = ''] = / approve (\w{16})$/m.exec((await folder.run('plan')).stdout) ?? [];
  const actions = actionsFor(readFileSync(join(folder.dir, 'skep.yaml'), 'utf8'));
  await expect(actions.prepare('approve', { hash }, async () => undefined)).rejects.toMatchObject({
    code: 'approval-of-everything',
  });
  folder.remove();
  await world.close();
});

test('callbacks of one address are bounded', async () => {
  const login: Login = {
    url: 'https://skep.example.com',
    host: 'login.example.com',
    lifetimeMs: 1000,
    begin: async () => 'https://login.example.com/',
    finish: async () => ({ name: 'ada' }),
  };
  const app = controlApp({ login });
  const answers = await Promise.all(Array.from({ length: 40 }, () => app.inject('/login/callback?state=x&code=y')));
  expect(answers.filter(({ statusCode }) => statusCode === 303).length).toBeGreaterThan(10);
  expect(answers.at(-1)?.statusCode).toBe(429);
  expect(answers.at(-1)?.json()).toMatchObject({ code: 'control-login-rate-limited' });
  await app.close();
});

// Creates a folder with the skep.yaml of an instance `test`, and runs the real executable in it against a test's world.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '#hosts/config/read-config.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import type { TestDatabase } from './database.ts';
import { temporaryFolder } from './git-server.ts';
import { type Finished, type Running, skep, startSkep } from './skep.ts';
import type { World } from './world.ts';

export interface InstanceFolder {
  readonly dir: string;
  /** Writes skep.yaml for the world. `changes` replaces top-level members. undefined removes a member. */
  configure(changes?: Readonly<Record<string, unknown>>): void;
  run(...args: readonly string[]): Promise<Finished>;
  start(...args: readonly string[]): Running;
  /** Opens the instance in this process, with the state of earlier runs in the state folder and the cluster. */
  use<T>(work: (instance: Instance) => Promise<T>): Promise<T>;
  /** Kills processes that a failed test has left running. Removes the folder. */
  remove(): void;
}

export function instanceFolder(world: World, database?: TestDatabase): InstanceFolder {
  const { path: dir, remove } = temporaryFolder();
  const passFile = join(dir, 'pgpass');
  const standard = {
    name: 'test',
    sources: [{ name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' }],
    cluster: { kubeconfig: world.cluster.kubeconfigPath },
    apply: { maxDeletesPercent: 100, waitSeconds: 60 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: join(dir, 'state'),
    ...(database === undefined ? {} : { catalogue: { database: settingsOf(database, passFile) } }),
  };
  function configure(changes: Readonly<Record<string, unknown>> = {}): void {
    writeFileSync(join(dir, 'skep.yaml'), JSON.stringify({ ...standard, ...changes }, null, 2));
  }
  configure();
  const started: Running[] = [];
  return {
    dir,
    configure,
    run: (...args) => skep(args, { cwd: dir }),
    start(...args) {
      const running = startSkep(args, { cwd: dir });
      started.push(running);
      return running;
    },
    async use(work) {
      const text = readFileSync(join(dir, 'skep.yaml'), 'utf8');
      const instance = await openInstance(readConfig({ text, file: 'skep.yaml', environment: {} }), () => undefined);
      try {
        return await work(instance);
      } finally {
        await instance.close();
      }
    },
    remove() {
      for (const running of started) running.kill('SIGKILL');
      remove();
    },
  };
}

/** Returns the database settings for skep.yaml. Writes the passwords to `passFile`. */
export function settingsOf({ app, migrator }: TestDatabase, passFile: string): Record<string, unknown> {
  const users = [app, migrator].map(({ user, password = '' }) => `*:*:*:${user}:${password}\n`);
  writeFileSync(passFile, users.join(''));
  chmodSync(passFile, 0o600);
  const { host, port, database, user } = app;
  return { host, port, database, user, migrationUser: migrator.user, sslMode: 'disable', passFile };
}

// `skep validate --watch` on real files: what changes is reported, however it changes, and a signal ends it.

import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasKustomize } from '../harness/kustomize.ts';
import { type Running, skep, startSkep } from '../harness/skep.ts';

let folder: string;
let running: Running;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'watch-'));
  mkdirSync(join(folder, 'fleet'));
  write('fleet/a.yaml', configMap('a'));
  running = startSkep(['validate', 'fleet', '--watch'], { cwd: folder });
  await running.printed('1 resource in 1 file: all valid\n');
});

afterAll(async () => {
  running.kill('SIGKILL');
  await running.finished;
  rmSync(folder, { recursive: true, force: true });
});

function configMap(name: string, value = 'x'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: docs}\ndata: {key: ${value}}\n`;
}

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

/** What is printed from now on, up to and with the text. */
async function reported(change: () => void, text: string): Promise<string> {
  const before = running.output().length;
  change();
  for (;;) {
    const fresh = running.output().slice(before);
    if (fresh.includes(text)) return fresh;
    await running.more();
  }
}

test('what is new is told, and what is solved; not what only moved', async () => {
  const broken = await reported(
    () => write('fleet/a.yaml', configMap('a', '1')),
    '1 invalid; correct these errors first, then rules and policies are checked as well\n',
  );
  expect(broken).toMatch(
    /^new: fleet\/a\.yaml:4:13: error schema-type: .*\n1 resource in 1 file: 1 invalid; correct these errors first, then rules and policies are checked as well\n$/,
  );
  const second = await reported(() => {
    write('fleet/a.yaml', `# moved\n${configMap('a', '1')}`);
    write('fleet/b.yaml', configMap('b', '2'));
  }, '2 invalid; correct these errors first, then rules and policies are checked as well\n');
  expect(second).not.toContain('a.yaml');
  expect(second).toContain('new: fleet/b.yaml:4:13');
  const mended = await reported(
    () => write('fleet/a.yaml', configMap('a')),
    '1 invalid; correct these errors first, then rules and policies are checked as well\n',
  );
  expect(mended).toMatch(/^solved: fleet\/a\.yaml:5:13: /);
});

test('a file that an editor puts in the place of another is read, again and again', async () => {
  for (const value of ['x', '3', 'z']) {
    const save = () => {
      write('fleet/.b.yaml.swp', configMap('b', value));
      renameSync(join(folder, 'fleet/.b.yaml.swp'), join(folder, 'fleet/b.yaml'));
    };
    await reported(save, value === '3' ? 'new: fleet/b.yaml' : 'all valid\n');
  }
});

test('folders that come, and what comes into them later, are seen; so is that they go', async () => {
  await reported(() => {
    mkdirSync(join(folder, 'fleet/deep/er'), { recursive: true });
    write('fleet/deep/er/c.yaml', configMap('c'));
  }, '3 resources in 3 files');
  await reported(() => write('fleet/deep/er/d.yaml', configMap('d')), '4 resources in 4 files');
  await reported(() => rmSync(join(folder, 'fleet/deep'), { recursive: true }), '2 resources in 2 files');
});

test('everything may go, and come back', async () => {
  await reported(
    () => rmSync(join(folder, 'fleet'), { recursive: true }),
    'error usage: fleet: no such file or folder',
  );
  await reported(() => {
    mkdirSync(join(folder, 'fleet'));
    write('fleet/e.yaml', configMap('e'));
  }, '1 resource in 1 file: all valid\n');
});

test('another folder in the place of the one that is watched is read, and watched', async () => {
  await reported(() => {
    mkdirSync(join(folder, 'next'));
    write('next/f.yaml', configMap('f', '1'));
    renameSync(join(folder, 'fleet'), join(folder, 'last'));
    renameSync(join(folder, 'next'), join(folder, 'fleet'));
  }, 'new: fleet/f.yaml');
  await reported(() => write('fleet/f.yaml', configMap('f')), 'all valid\n');
});

test('a link that leads to itself, and bursts of files that come and go, are nothing special', async () => {
  symlinkSync('self', join(folder, 'fleet/self'));
  await reported(() => {
    for (let each = 0; each < 300; each += 1) write(`fleet/many-${each}.yaml`, configMap(`many-${each}`));
    for (let each = 0; each < 300; each += 2) rmSync(join(folder, `fleet/many-${each}.yaml`));
  }, '151 resources in 151 files: all valid\n');
  expect(running.output()).not.toContain('ENOENT');
});

test.skipIf(!hasKustomize)(
  'files that a kustomization uses outside of the folder are watched, whatever their names',
  async () => {
    mkdirSync(join(folder, 'base'));
    write(
      'base/kustomization.yaml',
      'resources: [c.yaml]\nconfigMapGenerator: [{name: d, namespace: docs, files: [text.txt]}]\n',
    );
    write('base/c.yaml', configMap('c'));
    write('base/text.txt', 'one');
    await reported(
      () => write('fleet/kustomization.yaml', 'resources: [../base]\n'),
      '2 resources in 2 files: all valid\n',
    );
    expect(
      await reported(
        () => write('base/c.yaml', configMap('c', '1')),
        '1 invalid; correct these errors first, then rules and policies are checked as well\n',
      ),
    ).toContain('base/c.yaml:4:13');
    await reported(() => write('base/c.yaml', configMap('c')), 'all valid\n');
    expect(await reported(() => rmSync(join(folder, 'base/text.txt')), 'kustomization-path')).toContain(
      'base/kustomization.yaml:2:',
    );
  },
);

test('a signal ends it', async () => {
  running.kill('SIGINT');
  expect((await running.finished).code).toBe(0);
});

test('a path that is not there ends it at once; so does a format that cannot be watched', async () => {
  expect((await skep(['validate', 'nowhere', '--watch'], { cwd: folder })).code).toBe(64);
  expect((await skep(['validate', '.', '--watch', '-o', 'json'], { cwd: folder })).code).toBe(64);
});

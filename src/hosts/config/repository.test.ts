import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { manifestFiles } from '../reconciler/manifest-files.ts';
import { findManifestFolders } from './repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'config-repository-'));
const FILES = ['clusters/prod/a.yaml', 'clusters/prod/drafts/b.yaml', 'clusters/test/c.yaml', '.github/workflow.yaml'];
for (const file of FILES) {
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), '');
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function settings(sources: readonly object[]): void {
  writeFileSync(
    join(folder, 'skep.yaml'),
    JSON.stringify({ sources: sources.map((each, index) => ({ name: `s${index}`, repository: 'git@h:r', ...each })) }),
  );
}

async function read(path: string): Promise<string[]> {
  const folders = await findManifestFolders(path, {});
  const files = folders.flatMap((each) => manifestFiles(each.path, each.ignore));
  return files.map((file) => file.path.slice(folder.length + 1));
}

test('reads the whole folder if it contains no skep.yaml', async () => {
  expect(await read(join(folder, 'clusters'))).toEqual(FILES.slice(0, 3));
});

test('reads only the folders of the sources if the folder contains a skep.yaml', async () => {
  settings([{ path: 'clusters/prod', ignore: ['**/drafts/**'] }, { path: './clusters/test' }, { path: 'elsewhere' }]);
  expect(await read(folder)).toEqual(['clusters/prod/a.yaml', 'clusters/test/c.yaml']);
});

test('a source without a path reads the whole folder, including skep.yaml', async () => {
  settings([{}]);
  expect(await read(folder)).toEqual(['.github/workflow.yaml', ...FILES.slice(0, 3), 'skep.yaml']);
});

test('other folders are not guessed if the folders of the sources do not exist or skep.yaml cannot be read', async () => {
  settings([{ path: 'clusters/live' }]);
  await expect(read(folder)).rejects.toThrow(
    /skep\.yaml: its sources read "clusters\/live", and no such folder is here; name the folder with the manifests instead/,
  );
  settings([]);
  await expect(read(folder)).rejects.toThrow(/skep\.yaml:1:\d+: error setting-rule: sources: there is no source/);
});

test('a skep.yaml that is a folder is reported', async () => {
  const other = mkdtempSync(join(folder, 'other-'));
  mkdirSync(join(other, 'skep.yaml'));
  await expect(findManifestFolders(other, {})).rejects.toMatchObject({
    code: 'usage',
    message: `${join(other, 'skep.yaml')}: a folder, not a file`,
  });
});

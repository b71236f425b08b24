// `node scripts/record-release.ts TAG`: writes down what that release leaves behind where it ran, as test/upgrade/releases/TAG:
// its definitions and manifests of every kind, what its reconciler wrote into a cluster and its state folder, the schema and
// the rows of its databases, what its registry service asked of them and answered. It runs the release's own code on one
// machine. Tests of upgrades read that and need neither the tag nor the old code; releases are recorded once, when they are
// tagged.

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFolder } from './bench/folder.ts';
import { openRelease } from './release/checkout.ts';
import { recordCluster } from './release/cluster.ts';
import { recordDatabase } from './release/database.ts';
import { manifestsOfEveryKind } from './release/manifests.ts';

const RELEASES = fileURLToPath(new URL('../test/upgrade/releases', import.meta.url));

async function main(tag: string | undefined): Promise<void> {
  if (tag === undefined || tag.startsWith('-')) {
    process.stderr.write('usage: node scripts/record-release.ts TAG\n');
    process.exitCode = 64;
    return;
  }
  const output = join(RELEASES, tag);
  await withFolder(async (folder) => {
    const release = openRelease(tag, join(folder, 'release'));
    const cluster = await recordCluster(release, join(folder, 'cluster'));
    const database = await recordDatabase(release, join(folder, 'database'));
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output, { recursive: true });
    cpSync(join(release.dir, 'manifests/crds'), join(output, 'crds'), { recursive: true });
    cpSync(join(release.dir, 'src/adapters/postgres/migrations'), join(output, 'migrations'), { recursive: true });
    for (const [name, value] of Object.entries({ ...cluster, ...database, manifests: manifestsOfEveryKind(release) }))
      writeFileSync(join(output, `${name}.json`), textOf(value));
    writeFileSync(join(output, 'release.json'), textOf({ tag, commit: release.commit }));
  });
  process.stdout.write(`${output}\n`);
}

/** One entry of a list a line, so that a difference can be read. */
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return `${JSON.stringify(value, null, 1)}\n`;
  return `[\n${value.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

await main(process.argv[2]);

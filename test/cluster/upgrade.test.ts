// An upgrade over what earlier releases left in a cluster, on the API server of the suite. The definitions of a cluster in use
// are left alone: the story needs a cluster that has none of ours.

import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';
import { tellOfUpgrades } from '../upgrade/story.ts';
import { openServer } from './server.ts';

const server = await openServer();
const client = await server.client('upgrade');
const isInUse = (await client.resources()).some(({ apiVersion }) => apiVersion.startsWith('toolhive.stacklok.dev/'));
await server.close();
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (isInUse)
  process.stderr.write('skipped: upgrades over earlier releases, for this cluster has our definitions already\n');
if (!hasKubectl) process.stderr.write('skipped: what uninstalling leaves, for kubectl is not on PATH\n');

describe.skipIf(isInUse)('an upgrade', () => tellOfUpgrades(() => openServer(), server.isReal && hasKubectl));

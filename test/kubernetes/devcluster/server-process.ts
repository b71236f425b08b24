// Runs a server in a process of its own, for tests that kill it. Sends its address to its parent.

import { readFile } from 'node:fs/promises';
import { startDevcluster } from '#kubernetes/devcluster/devcluster.ts';
import { REAL_CLOCK } from '../../harness/cluster.ts';

const dir = process.argv[2] ?? '';
const { url, kubeconfigPath } = await startDevcluster({ dir, clock: REAL_CLOCK });
const config = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString('utf8');
process.send?.({ url, authority, token: config.users[0].user.token });
process.on('disconnect', () => process.exit());

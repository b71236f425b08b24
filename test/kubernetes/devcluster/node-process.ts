// Runs a cluster with a node as a process of its own that can be killed: it creates one pod, and reports the address of
// the cluster. Arguments: the state directory, the program of the pod and a word by which its processes can be found.

import { startDevcluster } from '#kubernetes/devcluster/devcluster.ts';
import { REAL_CLOCK } from '../../harness/cluster.ts';

const [, , dir = '', program = '', word = ''] = process.argv;
const cluster = await startDevcluster({
  ...{ dir, clock: REAL_CLOCK },
  node: { path: process.env.PATH ?? '', find: () => ({ command: [process.execPath, program, 'child', word] }) },
});
process.stdout.write(`${cluster.kubeconfigPath}\n`);

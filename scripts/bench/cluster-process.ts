// The embedded cluster in a process of its own: sends the path of its kubeconfig, ends when it is disconnected.

import { once } from 'node:events';
import { startDevcluster } from '../../src/devcluster/devcluster.ts';
import { systemClock } from '../../src/main/clock.ts';

const [dir]: string[] = await once(process, 'message');
const cluster = await startDevcluster({ dir: dir ?? '', clock: systemClock, workloadsReadyAfterMs: 1 });
process.once('disconnect', () => {
  void cluster.stop();
});
process.send?.(cluster.kubeconfigPath);

// The embedded cluster in a process of its own: sends the path of its kubeconfig, ends when it is disconnected.

import { once } from 'node:events';
import { systemClock } from '#hosts/clock.ts';
import { startDevcluster } from '#kubernetes/devcluster/devcluster.ts';

const [dir]: string[] = await once(process, 'message');
const cluster = await startDevcluster({ dir: dir ?? '', clock: systemClock, workloadsReadyAfterMs: 1 });
process.once('disconnect', () => {
  void cluster.stop();
});
process.send?.(cluster.kubeconfigPath);

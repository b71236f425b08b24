// A fleet whose pods run, on the API server of the suite: where that is a real one, it has to run on this machine and to have
// no nodes of its own.

import { describe, test } from 'vitest';
import { tellOfRunningFleet } from '../harness/fleet-runs.ts';
import { cannotRunPods } from '../harness/node/suite.ts';

const kubeconfig = process.env.KUBECONFIG ?? '';
const reason = await cannotRunPods(kubeconfig);

if (reason === undefined) describe('a fleet', () => tellOfRunningFleet(kubeconfig));
else test.skip(`a fleet runs: ${reason}`, () => undefined);

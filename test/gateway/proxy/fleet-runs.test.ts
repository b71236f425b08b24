// A fleet whose pods run, on the embedded API server.

import { tellOfRunningFleet } from '../../harness/fleet-runs.ts';

tellOfRunningFleet('');

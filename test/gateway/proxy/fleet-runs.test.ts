// Tests a running fleet on the embedded API server.

import { tellOfRunningFleet } from '../../harness/fleet-runs.ts';

tellOfRunningFleet('');

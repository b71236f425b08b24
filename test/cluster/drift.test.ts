// Drift, field by field, of every field of all manifests, on the API server of the suite.

import { tellOfDrift } from '../drift/matrix.ts';
import { openServer } from './server.ts';

tellOfDrift(() => openServer(undefined, { workloadsReadyAfterMs: 3_600_000 }), Number.POSITIVE_INFINITY);

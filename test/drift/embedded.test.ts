// Drift, field by field, of thirty fields of each kind, on the embedded API server.

import { openServer } from '../cluster/server.ts';
import { tellOfDrift } from './matrix.ts';

tellOfDrift(() => openServer('', { workloadsReadyAfterMs: 3_600_000 }), 30);

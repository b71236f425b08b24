// A fleet among other managers, on the embedded API server.

import { openServer } from '../../cluster/server.ts';
import { tellOfOthers } from '../../harness/with-others.ts';

tellOfOthers(() => openServer(''), false);

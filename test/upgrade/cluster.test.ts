// An upgrade over what earlier releases left in a cluster, on the embedded API server.

import { openServer } from '../cluster/server.ts';
import { tellOfUpgrades } from './story.ts';

tellOfUpgrades(() => openServer(''), false);

// A fleet among other managers, on the API server of the suite.

import { tellOfOthers } from '../harness/with-others.ts';
import { openServer } from './server.ts';

tellOfOthers(() => openServer(), (process.env.KUBECONFIG ?? '') !== '');

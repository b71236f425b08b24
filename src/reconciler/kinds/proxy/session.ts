// Defines the fields for the storage of sessions.

import { REDIS } from '#contracts/proxy-fields.ts';
import { choice, object, optional } from '#std/schema.ts';
import { secretKeyRef } from '../selectors.ts';

export const SessionStorage = object(
  {
    provider: choice('memory: in each process, lost with it. redis: shared between replicas.', ['memory', 'redis']),
    address: optional(REDIS.address),
    db: REDIS.db,
    keyPrefix: optional(REDIS.keyPrefix),
    passwordRef: optional(secretKeyRef('Password of Redis.')),
  },
  'Store of sessions. Default: in memory.',
  {
    validations: [{ rule: "self.provider != 'redis' || has(self.address)", message: 'address is required' }],
  },
);

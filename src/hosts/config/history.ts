// Defines the part of skep.yaml about stored runs.

import { integer, object } from '#std/schema.ts';

export const HISTORY = object(
  {
    limit: integer('How many runs are kept; without a database fewer if they are large.', {
      default: 50,
      minimum: 1,
      maximum: 1000,
    }),
  },
  'History of the runs that changed something or found something new.',
  { default: {} },
);

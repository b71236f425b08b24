// Defines the parts of skep.yaml about plan files, their signatures, and the published state. `skep plan --against`
// plans from the published state without access to the cluster.

import { choice, integer, list, object, optional, text } from '#std/schema.ts';
import { withRules } from './rules.ts';

export const PLANS = withRules(
  object(
    {
      require: choice(
        'signed: only `skep apply` changes objects, and only with a plan file that one of the keys signed; runs only report pending changes.',
        ['unsigned', 'signed'],
        { default: 'unsigned' },
      ),
      keys: list(
        text('A file.', { minLength: 1 }),
        'Public SSH keys (.pub, allowed_signers) of signers. If set, the signature next to a plan file is always checked.',
        { default: [] },
      ),
      expiresHours: integer('Hours after which a plan file is refused.', { default: 24, minimum: 1, maximum: 720 }),
    },
    'Plan files.',
    { default: {} },
  ),
  [
    {
      holds: ({ require, keys }) => require !== 'signed' || keys.length > 0,
      message: 'signed plans can be required only if keys name the signers',
      at: '/keys',
    },
  ],
);

export const SNAPSHOT = object(
  {
    file: optional(
      text('File to which the snapshot is written after each run. If absent, only the listener serves the snapshot.', {
        minLength: 1,
      }),
    ),
  },
  'Publish the state, without values of fields, for `skep plan --against`: in a file, and at /snapshot of the listener (http).',
);

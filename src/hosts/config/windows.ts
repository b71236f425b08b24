// Defines the part of skep.yaml about the times at which skep may make changes.

import { integer, list, object, optional, type Static, text } from '#std/schema.ts';
import { withRules } from './rules.ts';

const WINDOW = withRules(
  object(
    {
      allow: optional(text('Cron expression: changes may be made from this time on.', { minLength: 1 })),
      deny: optional(
        text('Cron expression: no changes from this time on; takes precedence over every allow.', { minLength: 1 }),
      ),
      hours: integer('Duration in hours, whatever the wall clock does: 24 hours are 24 hours.', {
        minimum: 1,
        maximum: 744,
      }),
      timeZone: text('Time zone of the expression (IANA name).', { default: 'UTC' }),
    },
    'A time in which changes may be made, or may not.',
  ),
  [
    {
      holds: ({ allow, deny }) => (allow === undefined) !== (deny === undefined),
      message: 'give either allow or deny',
    },
  ],
);

export const WINDOWS = list(
  WINDOW,
  'Times of changes: never during a deny window; with allow windows, only during one; otherwise always.',
  { default: [] },
);

export type Window = Static<typeof WINDOW>;

// The part of skep.yaml about who is notified of runs. Knows nothing about how.

import { choice, list, object, optional, text } from '../../std/schema.ts';

const URL_PATTERN = '^https?://';

const COMMIT_STATUS = object(
  {
    provider: choice('The forge that the sources are at.', ['github', 'gitlab', 'gitea']),
    tokenFile: text('File with a token that may set the status of commits; read anew each time.', { minLength: 1 }),
    apiUrl: optional(
      text('Where its API is, where that does not follow from the repository.', { pattern: URL_PATTERN }),
    ),
    context: optional(
      text('Names the status among others of a commit; skep/<name>.', { minLength: 1, maxLength: 100 }),
    ),
    targetUrl: optional(text('Where the status leads, such as the page /runs.', { pattern: URL_PATTERN })),
  },
  'The status of each commit at its forge.',
);

const WEBHOOK = object(
  {
    url: text('What is reported of runs, by POST.', { pattern: URL_PATTERN }),
    secretFile: text('File with the secret that the body is signed with; read anew each time.', { minLength: 1 }),
  },
  'One receiver.',
);

export const NOTIFY = object(
  {
    commitStatus: optional(COMMIT_STATUS),
    webhooks: list(WEBHOOK, 'Receivers of runs as JSON, each signed (HMAC with SHA-256).', { default: [] }),
  },
  'Who is notified when the state changes.',
  { default: {} },
);

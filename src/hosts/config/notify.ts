// Defines the part of skep.yaml about receivers of notices.

import { addressed } from '#std/address/address.ts';
import { choice, list, object, optional, text } from '#std/schema.ts';

function url(description: string) {
  return addressed(text(description, { pattern: '^https?://' }), 'url');
}

const COMMIT_STATUS = object(
  {
    provider: choice('The forge of the sources.', ['github', 'gitlab', 'gitea']),
    tokenFile: text('File with a token that may set the status of commits; read again each time.', { minLength: 1 }),
    apiUrl: optional(url('URL of its API, if it does not follow from the repository.')),
    context: optional(
      text('Name that distinguishes the status from other statuses; default: skep/<name>.', {
        minLength: 1,
        maxLength: 100,
      }),
    ),
    targetUrl: optional(url('Target of the link in the status, such as the page /runs.')),
  },
  'The status of each commit at its forge.',
);

const WEBHOOK = object(
  {
    url: url('URL to which runs are posted.'),
    secretFile: text('File with the secret that the body is signed with; read again each time.', { minLength: 1 }),
  },
  'One receiver.',
);

const CHAT = object(
  {
    service: choice('The chat.', ['slack', 'teams']),
    urlFile: text(
      'File with the URL of the incoming webhook (Slack) or workflow (Microsoft Teams); read again each time.',
      {
        minLength: 1,
      },
    ),
    targetUrl: optional(url('Target of the link in the message, such as the page /runs.')),
  },
  'A channel of a chat.',
);

export const NOTIFY = object(
  {
    commitStatus: optional(COMMIT_STATUS),
    // The last notice to a receiver is stored by this key. A second receiver with the same key would never be notified.
    webhooks: list(WEBHOOK, 'Receivers of runs as JSON, each signed (HMAC with SHA-256).', {
      default: [],
      keys: ['url'],
    }),
    chats: list(CHAT, 'Channels of chats that get a few lines about changes.', { default: [], keys: ['urlFile'] }),
  },
  'Who is notified when the state changes.',
  { default: {} },
);

// Defines every field of MCPWebhookConfig, and the reference to an MCPWebhookConfig.

import { bool, choice, duration, list, object, optional, type Static, text } from '#std/schema.ts';
import { secretKeyRef } from '../selectors.ts';

const TLSConfig = object(
  {
    caSecretRef: optional(secretKeyRef('PEM certificates that are trusted for the webhook, and no others.')),
    clientCertSecretRef: optional(secretKeyRef('PEM certificate that the proxy shows to the webhook.')),
    clientKeySecretRef: optional(secretKeyRef('PEM key of that certificate.')),
    insecureSkipVerify: optional(
      bool('True: the certificate of the webhook is not checked, and an http URL is accepted. For tests.'),
    ),
  },
  'Certificates of the proxy and the webhook.',
  {
    validations: [
      {
        rule: 'has(self.clientCertSecretRef) == has(self.clientKeySecretRef)',
        message: 'clientCertSecretRef and clientKeySecretRef must be set together',
      },
    ],
  },
);

const Webhook = object(
  {
    name: text('Name of the webhook, for audit, log and metrics.', { minLength: 1, maxLength: 63 }),
    url: text('URL to which requests are posted, with https.', { maxLength: 2048, minLength: 1 }),
    timeout: optional(
      duration('Limit of the time for the response. Default: 10s. At most 30s.', {
        validations: [
          {
            rule: "duration(self) > duration('0s') && duration(self) <= duration('30s')",
            message: 'timeout must be longer than 0s, and at most 30s',
          },
        ],
      }),
    ),
    failurePolicy: choice(
      'fail: a request is refused if the webhook sends no usable response. ignore: the request continues, which is audited and counted.',
      ['fail', 'ignore'],
      { default: 'fail' },
    ),
    hmacSecretRef: optional(
      secretKeyRef(
        'Key that signs requests: X-ToolHive-Signature is sha256= and the HMAC of X-ToolHive-Timestamp, a dot and the body.',
      ),
    ),
    tlsConfig: optional(TLSConfig),
  },
  'A webhook.',
);

export const Webhooks = object(
  {
    mutating: optional(list(Webhook, 'Webhooks that may change a message, called in order.', { maxItems: 32 })),
    validating: optional(
      list(Webhook, 'Webhooks that permit or deny a message, called after the mutating webhooks.', { maxItems: 32 }),
    ),
  },
  'Webhooks that check or change requests before a server receives them.',
  {
    neverEmpty: true,
    validations: [
      {
        rule: '(has(self.validating) ? size(self.validating) : 0) + (has(self.mutating) ? size(self.mutating) : 0) > 0',
        message: 'at least one validating or mutating webhook must be defined',
      },
    ],
  },
);

export type WebhooksSpec = Static<typeof Webhooks>;
export type WebhookFields = NonNullable<WebhooksSpec['mutating']>[number];

const WEBHOOK_SORTS = ['mutating', 'validating'] as const;

/** Returns all webhooks in the order in which they are called, each with its pointer. */
export function listedWebhooks(spec: WebhooksSpec) {
  return WEBHOOK_SORTS.flatMap((sort) =>
    (spec[sort] ?? []).map((webhook, index) => ({ sort, index, webhook, pointer: `/spec/${sort}/${index}` })),
  );
}

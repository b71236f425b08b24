// Defines the webhooks in the configuration of a proxy. The proxy calls webhooks before it forwards a message.

import { addressed } from '#std/address/address.ts';
import { Type } from '#std/json-schema.ts';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });

const Webhook = Type.Object(
  {
    name: Text('Name of the webhook, for audit, log and metrics.'),
    url: addressed(Text('URL that requests are posted to.'), 'url'),
    timeout_ms: Type.Integer({ minimum: 1, maximum: 30_000, description: 'How long the whole exchange may take.' }),
    failure_policy: Type.Enum(['fail', 'ignore'], {
      description: 'Whether a message is refused or forwarded if the webhook returns no usable response.',
    }),
    hmac_secret_file: Type.Optional(Text('File with the key that signs requests. Read again when it changes.')),
    ca_file: Type.Optional(Text('PEM file with the only certificates to trust. Read again when it changes.')),
    client_cert_file: Type.Optional(Text('PEM file with the client certificate for the webhook.')),
    client_key_file: Type.Optional(Text('PEM file with the key of that certificate.')),
    insecure_skip_verify: Type.Boolean({
      description: 'Certificates of the webhook are not checked, and http URLs are accepted.',
    }),
  },
  CLOSED,
);

export const WEBHOOKS = Type.Object(
  {
    mutating: Type.Optional(Type.Array(Webhook, { description: 'Change messages, one after another.' })),
    validating: Type.Optional(
      Type.Array(Webhook, { description: 'Allow or deny messages after the changes of the others.' }),
    ),
  },
  { ...CLOSED, description: 'Absent: no webhook is called.' },
);

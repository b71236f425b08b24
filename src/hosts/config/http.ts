// Defines the part of skep.yaml about the reconciler's own listener.

import { object, optional, type Static, text } from '#std/schema.ts';
import { LOGIN } from './login.ts';

const ADDRESS = '^([^:\\[\\]/\\s]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$';

export const HTTP = object(
  {
    address: text('Host and port to listen on: 0.0.0.0:8081, 127.0.0.1:8081 or [::1]:8081.', {
      default: '0.0.0.0:8081',
      pattern: ADDRESS,
    }),
    tokenFile: optional(
      text('File with the tokens, one a line, that may read more than health and metrics; read again each time.', {
        minLength: 1,
      }),
    ),
    operatorTokenFile: optional(
      text(
        'File with the tokens, one a line, that may also act: approve, suspend, resume, trigger, roll back; read again each time.',
        { minLength: 1 },
      ),
    ),
    login: optional(LOGIN),
    webhookSecretFile: optional(
      text('File with the secrets, one a line, that Git servers sign webhooks with; read again each time.', {
        minLength: 1,
      }),
    ),
  },
  'Listener of `skep run` for /health, /readiness, /metrics and the console. Without it, skep does not listen.',
);

export type HttpConfig = Static<typeof HTTP>;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Returns whether the text is a host and port in the form that the schema requires. */
export function isAddress(text: string): boolean {
  return new RegExp(ADDRESS).test(text);
}

/** Splits an address into host and port. The schema must have accepted the address. */
export function addressOf(text: string): Address {
  const at = text.lastIndexOf(':');
  const host = text.slice(0, at);
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port: Number(text.slice(at + 1)) };
}

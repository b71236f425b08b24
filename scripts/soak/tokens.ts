// The tokens that readers show: a few at a time, and others every now and then.

import { type Random, seeded } from '../../test/harness/random.ts';
import type { Issuer } from './issuer.ts';

type Headers = Readonly<Record<string, string>>;

export interface Tokens {
  reading(): Headers;
  writing(): Headers;
  /** Only the identity provider can say whether it is good. */
  opaque(): Headers;
  expired(): Headers;
  /** Signed by no one, another one each time. */
  forged(): Headers;
  /** Replaces all of them. */
  renew(): Promise<void>;
}

const READERS = 8;
const LIFE_SECONDS = 300;

export async function openTokens(issuer: Issuer, seed: number): Promise<Tokens> {
  const random: Random = seeded(seed);
  const readScope = 'mcp-registry:read';
  let held = await make();
  let forgeries = 0;

  async function make() {
    const reading = Array.from({ length: READERS }, () => issuer.token(readScope, LIFE_SECONDS));
    return {
      reading: await Promise.all(reading),
      writing: await issuer.token(`${readScope} mcp-registry:write`, LIFE_SECONDS),
      expired: await issuer.token(readScope, -60),
      opaque: issuer.opaque(),
    };
  }

  return {
    reading: () => bearer(random.pick(held.reading)),
    writing: () => bearer(held.writing),
    opaque: () => bearer(held.opaque),
    expired: () => bearer(held.expired),
    forged() {
      forgeries += 1;
      const [head = '', claims = ''] = held.reading[0]?.split('.') ?? [];
      return bearer(`${head}.${claims}.${Buffer.from(`nobody ${forgeries}`).toString('base64url')}`);
    },
    async renew() {
      held = await make();
    },
  };
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

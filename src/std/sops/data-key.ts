// Decrypts the data key of a document. The key is encrypted for each recipient, or shared among groups of recipients.

import type { AgeKeys } from './age-keys.ts';
import type { SopsCode } from './codes.ts';
import type { KeyGroup, SopsMetadata } from './metadata.ts';
import { combineShares } from './shamir.ts';

export type DataKey =
  | { readonly ok: true; readonly key: Uint8Array }
  | { readonly ok: false; readonly code: SopsCode; readonly message: string };

/** Maximum number of shares. Each share needs its own x value, which is a nonzero byte. */
const GROUPS_MAX = 255;

export async function openDataKey({ groups, threshold }: SopsMetadata, keys: AgeKeys): Promise<DataKey> {
  const needed = groups.length === 1 ? 1 : threshold;
  const byAge = groups.filter(({ age }) => age.length > 0).slice(0, GROUPS_MAX);
  if (byAge.length < needed)
    return { ok: false, code: 'sops-service-unsupported', message: describeServices(groups, needed) };
  const opened = await Promise.all(byAge.map(({ age }) => keys.open(age)));
  const shares = opened.filter((share) => share !== undefined);
  if (shares.length < needed)
    return { ok: false, code: 'sops-key-wrong', message: wrong(byAge, shares.length, needed) };
  const key = groups.length === 1 ? shares[0] : combineShares(shares);
  if (key !== undefined) return { ok: true, key };
  return {
    ok: false,
    code: 'sops-invalid',
    message: 'The shares of its data key do not fit together: encrypt it again.',
  };
}

function describeServices(groups: readonly KeyGroup[], needed: number): string {
  const services = [...new Set(groups.flatMap(({ others }) => others))].join(', ');
  const who = needed === 1 ? 'no age recipient' : `age recipients in fewer than the ${needed} required key groups`;
  return `The document was encrypted for ${services}, with ${who}: only age is supported; add a recipient with sops updatekeys.`;
}

/** Returns the message for missing private keys. The message may contain the recipients' public keys. */
function wrong(groups: readonly KeyGroup[], opened: number, needed: number): string {
  const recipients = groups.flatMap(({ age }) => age.map(({ recipient }) => recipient));
  const named =
    recipients.slice(0, 3).map(shown).join(', ') +
    (recipients.length > 3 ? ` and ${recipients.length - 3} others` : '');
  const how =
    needed === 1 ? 'None of the age keys opens it' : `The age keys open ${opened} of the ${needed} required groups`;
  return `${how}: it was encrypted for ${named}.`;
}

/**
 * Returns enough of a public key to identify it: a post-quantum key has 2,000 letters. Does not repeat a text that is
 * not a key.
 */
function shown(recipient: string): string {
  if (!/^[a-z0-9-]+1[a-z0-9]+$/i.test(recipient)) return 'a text that is not an age key';
  return recipient.length > 70 ? `${recipient.slice(0, 32)}...` : recipient;
}

// Reads the issuer of service account tokens from the API server and caches it for a limited time, because a cluster
// upgrade may change it.

import type { Clock, Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import type { ClusterApi } from './api.ts';
import { readJson } from './json-answer.ts';

const PATH = '/.well-known/openid-configuration';
const KEPT_MS = 10 * 60_000;
/** Milliseconds for which a failure is cached. It is short, so that a newly granted permission takes effect soon. */
const FAULT_KEPT_MS = 60_000;

type TokenIssuer = Awaited<ReturnType<Cluster['tokenIssuer']>>;

export function openTokenIssuer(api: ClusterApi, clock: Clock): Cluster['tokenIssuer'] {
  let known: { readonly answer: TokenIssuer; readonly until: number } | undefined;
  return async () => {
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.answer;
    const answer = await readIssuer(api);
    known = { answer, until: now + ('fault' in answer ? FAULT_KEPT_MS : KEPT_MS) };
    return answer;
  };
}

async function readIssuer(api: ClusterApi): Promise<TokenIssuer> {
  try {
    const { issuer } = await readJson(api, PATH);
    return typeof issuer === 'string' && issuer !== '' ? { issuer } : { fault: `${api.url(PATH)} names no issuer` };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { fault: error.message };
  }
}

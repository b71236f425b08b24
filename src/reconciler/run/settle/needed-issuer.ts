// Reads the issuer of service account tokens from the cluster, if a status depends on it.

import type { TokenIssuer, View } from '../../kinds/kind.ts';
import type { Cluster } from '../ports.ts';
import type { Standing } from '../resolve/resolve.ts';

/** Returns the issuer. Returns undefined, without a request, if no resource accepts tokens of service accounts. */
export async function readNeededIssuer(
  cluster: Pick<Cluster, 'tokenIssuer'>,
  standings: readonly Standing[],
  views: (namespace: string) => View,
): Promise<TokenIssuer | undefined> {
  const isNeeded = standings.some(
    ({ loaded: { id, kind, defaulted } }) =>
      defaulted !== undefined && kind?.acceptsAccounts(defaulted, views(id.namespace ?? '')) === true,
  );
  return isNeeded ? await cluster.tokenIssuer() : undefined;
}

// Finds repeated scopes, and URLs to which secrets would be sent unencrypted.

import type { Finding } from '../kind.ts';

export function scopeFindings(scopes: readonly string[] | undefined, pointer: string): readonly Finding[] {
  return (scopes ?? []).flatMap((scope, index, all): readonly Finding[] => {
    if (all.indexOf(scope) === index) return [];
    const message = `scope ${scope} is listed twice`;
    return [{ code: 'scope-repeated', severity: 'warning', pointer: `${pointer}/${index}`, message }];
  });
}

/** Warns if a secret or a token would leave the cluster unencrypted. */
export function plainHttpFindings(url: string, pointer: string): readonly Finding[] {
  if (!url.startsWith('http://') || !URL.canParse(url) || isInside(new URL(url).hostname)) return [];
  const message = 'secrets and tokens are sent there, and http does not protect them: use https';
  return [{ code: 'secret-over-http', severity: 'warning', pointer, message }];
}

/**
 * Returns whether the host is this machine or a Service of the cluster. A name without a dot is a Service in the same
 * namespace.
 */
function isInside(host: string): boolean {
  const loopback = host === 'localhost' || host === '[::1]' || /^127\./.test(host);
  return loopback || /(^[^.:[\]]+|\.svc|\.cluster\.local)$/.test(host);
}

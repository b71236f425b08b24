// What may be set as a header is decided in two places: at commit time, and where the proxy reads its configuration. They
// agree, so no proxy fails at start over what a commit went through with.

import { expect, it } from 'vitest';
import { settableHeader } from '#gateway/credentials/header-rules.ts';
import { headerNameFindings } from '#reconciler/kinds/auth/header-findings.ts';
import { Failure } from '#std/failure.ts';

const NAMES = [
  ...['Connection', 'Content-Length', 'Forwarded', 'Host', 'HTTP2-Settings', 'Keep-Alive', 'TE', 'Trailer'],
  ...['Transfer-Encoding', 'Upgrade', 'Proxy-Authorization', 'Proxy-Connection', 'X-Real-IP'],
  ...['X-Forwarded-For', 'X-Forwarded-Port', 'X-Forwarded-Prefix', 'X-Forwarded-User', 'x-forwarded-'],
  ...['Authorization', 'Cookie', 'X-Api-Key', 'X-Forwarded', 'Via', 'Mcp-Session-Id', 'Content-Type', 'Date'],
  ...['X Key', 'X:Key', 'X\r\nKey', 'Schlüssel', "!#$%&'*+.^_`|~-"],
];

it.each(NAMES)('a commit and a proxy say the same of the header %j', (name) => {
  const refusedByCommit = headerNameFindings(name, '/name').length > 0;
  expect(refusedByCommit).toBe(!isSettable(name));
});

function isSettable(name: string): boolean {
  try {
    settableHeader(name, '/name');
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

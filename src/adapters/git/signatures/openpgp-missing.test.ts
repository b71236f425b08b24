// Tests installations without optional packages, which have no OpenPGP. A separate file, because a loaded package stays
// loaded.

import { registerHooks } from 'node:module';
import { afterAll, expect, test } from 'vitest';
import { readPgpKeys } from './pgp-signature.ts';

const hooks = registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(specifier.includes('openpgp') ? 'a-package-that-is-not-installed' : specifier, context);
  },
});

afterAll(() => hooks.deregister());

test('a message about an OpenPGP key names its package if that is not installed', async () => {
  await expect(readPgpKeys(Buffer.from('-----BEGIN PGP PUBLIC KEY BLOCK-----'))).rejects.toThrow(
    'OpenPGP keys need the optional package openpgp, which is not installed: npm ci without --omit=optional',
  );
});

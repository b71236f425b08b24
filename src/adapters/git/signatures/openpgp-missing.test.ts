// Tests an installation without the optional package for OpenPGP. In a separate file, because a loaded package cannot
// be unloaded.

import { registerHooks } from 'node:module';
import { afterAll, expect, test } from 'vitest';
import { readPgpKeys } from './pgp-signature.ts';

const hooks = registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(specifier.includes('openpgp') ? 'a-package-that-is-not-installed' : specifier, context);
  },
});

afterAll(() => hooks.deregister());

test('the message about an OpenPGP key names the missing package', async () => {
  await expect(readPgpKeys(Buffer.from('-----BEGIN PGP PUBLIC KEY BLOCK-----'))).rejects.toThrow(
    'OpenPGP keys need the optional package openpgp, which is not installed: npm ci without --omit=optional',
  );
});

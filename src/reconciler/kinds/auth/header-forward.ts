// Defines the fields with headers that a proxy adds to its requests, and renders them into the proxy's configuration
// and pod.

import type { RunConfig } from '#contracts/run-config.ts';
import { list, object, optional, type Static, text, textMap } from '#std/schema.ts';
import type { Reference } from '../kind.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';
import { secretKeyRef } from '../selectors.ts';

const HeaderFromSecret = object(
  {
    headerName: text('Name of the header.', { minLength: 1, maxLength: 255 }),
    valueSecretRef: secretKeyRef('Secret entry with the value of the header.'),
  },
  'A header whose value is in a Secret.',
);

/** Named HeaderForwardConfig in ToolHive's documents. */
export const HeaderForward = object(
  {
    addPlaintextHeaders: optional(
      textMap('Values of headers by name, readable by anyone who can read this resource.', { maxProperties: 128 }),
    ),
    addHeadersFromSecret: optional(
      list(
        HeaderFromSecret,
        'Headers whose values are in Secrets. They take precedence over plain headers with the same name.',
        {
          keys: ['headerName'],
          maxItems: 128,
        },
      ),
    ),
  },
  'Headers added to every request to the remote server.',
);

export type HeaderForwarding = Static<typeof HeaderForward>;
type FromSecret = Static<typeof HeaderFromSecret>;

export function headerReferences(headers: HeaderForwarding | undefined, pointer: string): readonly Reference[] {
  return (headers?.addHeadersFromSecret ?? []).map(({ valueSecretRef }, index) => {
    const at = `${pointer}/addHeadersFromSecret/${index}/valueSecretRef`;
    return { pointer: at, kind: 'Secret', ...valueSecretRef };
  });
}

/** Headers in the proxy's configuration, and files with values from Secrets. */
export interface ForwardedHeaders {
  readonly block: Pick<RunConfig, 'header_forward'>;
  readonly files: readonly SecretFile[];
}

export function forwardedHeaders(headers: HeaderForwarding | undefined): ForwardedHeaders {
  const plain = headers?.addPlaintextHeaders ?? {};
  const secret = withFiles(headers?.addHeadersFromSecret ?? []);
  const paths = Object.fromEntries(secret.map(({ headerName, file }) => [headerName, secretPath(file)]));
  const hasPlain = Object.keys(plain).length > 0;
  const block = {
    add_plaintext_headers: hasPlain ? plain : undefined,
    add_headers_from_file: secret.length === 0 ? undefined : paths,
  };
  return {
    block: hasPlain || secret.length > 0 ? { header_forward: block } : {},
    files: secret.map(({ file, valueSecretRef }) => ({ file, secret: valueSecretRef })),
  };
}

/**
 * Adds a file name to each header. Characters that are unusual in file names become `-`. If two names become equal, the
 * later name gets a number.
 */
function withFiles(headers: readonly FromSecret[]) {
  const taken = new Map<string, number>();
  return headers.map((header) => {
    const plain = header.headerName.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
    const number = (taken.get(plain) ?? 0) + 1;
    taken.set(plain, number);
    return { ...header, file: SECRET_FILES.forwardedHeader(number === 1 ? plain : `${plain}_${number}`) };
  });
}

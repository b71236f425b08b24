// Lists the codes of problems with encrypted documents, with their remedies.

export const SOPS_CODES = {
  'sops-key-missing':
    'A document is encrypted with SOPS, and its source has no key: set `decryption.ageKeyFile` of the source in skep.yaml. Its objects in the cluster are kept.',
  'sops-key-unreadable':
    'The file of age keys cannot be read, contains no key, or a line that is not a key: write one `AGE-SECRET-KEY-...` per line. The objects of encrypted documents are kept unchanged.',
  'sops-key-wrong':
    'None of the age keys opens the document: encrypt it for one of them (`sops updatekeys`), or add the key of a recipient that the message names.',
  'sops-service-unsupported':
    'The document was encrypted for a key service or for PGP, and too few age recipients: add one (`sops updatekeys`). Only age is read here.',
  'sops-mac-mismatch':
    'The document was changed after it was encrypted: change encrypted documents with `sops edit` only. It is not applied.',
  'sops-invalid':
    'An encrypted document does not have the form that SOPS writes, or a value was added, moved or cut: encrypt it again. It is not applied.',
  'sops-metadata-missing':
    'A value is SOPS ciphertext, and nothing in the document says how to open it: put the `sops` part back, or encrypt it again. Ciphertext is never applied.',
  'sops-outside-secret':
    'An object that is not a Secret has encrypted values. They would be readable in the cluster by everybody who may read the object: put them into a Secret and refer to it.',
  'sops-not-checked':
    'The identity of a document is encrypted too, so it cannot be checked without the key: encrypt values only (`--encrypted-regex`), or name the key with `--age-key-file`.',
} as const;

export type SopsCode = keyof typeof SOPS_CODES;

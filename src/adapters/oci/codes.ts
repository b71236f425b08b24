// Defines failure codes of image verification.

export const OCI_CODES = {
  'image-registry':
    'The registry of an image did not answer, or refused: the message says which status it sent. The request is repeated later, and after the time that the registry names.',
  'image-content':
    'The registry of an image sent content that does not have its digest, or that is against the specification of OCI: look at the registry and at proxies on the way.',
  'image-realm':
    'The registry of an image sends its clients to another host for tokens: name that host in images.verify.realms of skep.yaml if it is trusted with the credentials.',
  'image-trust':
    'A file for the verification of images (images.verify.trustedRoot or keyFile of a rule) cannot be read, or has other contents: correct the file or its path.',
} as const;

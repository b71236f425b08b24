// Defines the part of skep.yaml about images: images of the workloads that skep creates, and required signatures.

import { addressed } from '#std/address/address.ts';
import { parseGlob } from '#std/patterns/glob.ts';
import { bool, choice, integer, list, object, optional, text, textMap } from '#std/schema.ts';
import { withRules } from './rules.ts';

const MODES = ['off', 'warn', 'require'] as const;

function pattern(description: string) {
  return withRules(text(description, { minLength: 1 }), [
    { holds: (value) => parseGlob(value) !== undefined, message: 'the glob is malformed: close its class or brace' },
  ]);
}

const RULE = withRules(
  object(
    {
      image: pattern('Glob over names of images with their registry and without tag: ghcr.io/acme/*.'),
      keyFile: optional(text('File with public keys (PEM); one of them has signed the image.', { minLength: 1 })),
      identity: optional(
        pattern('Glob over the subject of the certificate: https://github.com/acme/x/.github/workflows/release.yml@*.'),
      ),
      issuer: optional(
        addressed(text('Issuer of the token of the signer: https://token.actions.githubusercontent.com.'), 'url'),
      ),
      repository: optional(addressed(text('Source repository in the certificate: https://github.com/acme/x.'), 'url')),
      attestation: optional(
        text('Predicate type of a required attestation, such as https://slsa.dev/provenance/v1.', {
          minLength: 1,
        }),
      ),
    },
    'Signer of images.',
  ),
  [
    {
      holds: ({ keyFile, issuer, identity, repository }) =>
        keyFile !== undefined || (issuer !== undefined && (identity !== undefined || repository !== undefined)),
      message: 'a rule needs keyFile, or issuer with identity or repository, because anyone can get a certificate',
    },
    {
      holds: ({ keyFile, issuer, identity, repository }) =>
        keyFile === undefined || (issuer === undefined && identity === undefined && repository === undefined),
      message: 'a signature by a key has no issuer, identity and repository: write two rules',
    },
  ],
);

const VERIFY = object(
  {
    mode: choice(
      'Mode for namespaces that are not in the list: warn applies images without a matching signature, with a warning; require keeps their children unchanged.',
      MODES,
      { default: 'off' },
    ),
    namespaces: list(
      object({ name: pattern('A name, or a glob such as team-*.'), mode: choice('As mode.', MODES) }, 'Namespaces.'),
      'Other modes for namespaces; the first match counts.',
      { default: [] },
    ),
    rules: list(RULE, 'Signers by image. The first match counts, and precedes the provenance in catalogue entries.', {
      default: [],
    }),
    pin: bool(
      'Write the verified digest into children (x:1 becomes x:1@sha256:...) also in namespaces with mode warn. Mode require always does.',
      false,
    ),
    trustedRoot: optional(
      text('File with a trusted root of Sigstore; default: the public-good instance, as this release recorded it.', {
        minLength: 1,
      }),
    ),
    refreshSeconds: integer('Time after which a tag is resolved again.', {
      default: 300,
      minimum: 30,
      maximum: 86_400,
    }),
    realms: optional(textMap('Hosts of token services to which registries may send their clients, by registry.')),
    plainHttp: list(text('A host with its port.', { minLength: 1 }), 'Registries without TLS.', { default: [] }),
  },
  'Whether images of children are verified before they are applied.',
  { default: {} },
);

export const IMAGES = object(
  {
    proxy: optional(text('Image of the proxy in front of a server.')),
    vmcp: optional(text('Image of a virtual MCP server.')),
    registry: optional(text('Image of the registry service.')),
    pullSecrets: list(text('Name of a Secret.'), 'Image pull secrets of every pod that skep creates.', {
      default: [],
    }),
    verify: VERIFY,
  },
  'Images of the workloads that skep creates; the default is the image of the reconciler itself, by its digest.',
  { default: {} },
);

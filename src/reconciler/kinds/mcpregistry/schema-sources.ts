// Defines the fields of one entry of `spec.registries`.

import { ENDPOINT, fileField, filter, GIT, INTERVAL, NAME } from '#contracts/registry/fields.ts';
import { DEFAULT_FORMAT, FORMATS_DESCRIBED, SOURCE_FORMATS } from '#contracts/registry/source.ts';
import { choice, object, optional } from '#std/schema.ts';
import { configMapKeySelector, nameField, secretKeySelector } from '../selectors.ts';

const GitAuth = object(
  {
    username: GIT.username,
    passwordSecretRef: secretKeySelector('Password or token.'),
  },
  'HTTP Basic authentication. Only http and https repositories use it.',
);

const Git = object(
  {
    repository: GIT.repository,
    branch: optional(GIT.branch),
    tag: optional(GIT.tag),
    commit: optional(GIT.commit),
    path: GIT.path,
    auth: optional(GitAuth),
  },
  'A file in a Git repository.',
  {
    validations: [
      {
        rule: '[has(self.branch), has(self.tag), has(self.commit)].filter(ref, ref).size() <= 1',
        message: 'branch, tag and commit are mutually exclusive',
      },
    ],
  },
);

const Api = object({ endpoint: ENDPOINT }, "Another registry's API.");

const Claim = object(
  {
    claimName: nameField('Name of the PersistentVolumeClaim.'),
    path: fileField('Path of the JSON file inside the claim.'),
  },
  'A file on a volume. Several entries may share one claim.',
);

const SyncPolicy = object(
  { interval: INTERVAL },
  'Syncs at an interval. Without it: once, and whenever a sync is requested.',
);

/** One entry of `registries`, with exactly one source. */
export const Registry = object(
  {
    name: NAME,
    format: choice(`Format of the data: ${FORMATS_DESCRIBED}.`, SOURCE_FORMATS, {
      default: DEFAULT_FORMAT,
    }),
    configMapRef: optional(
      configMapKeySelector(
        'A file in a ConfigMap. If it is optional and missing, it counts as a file without servers: servers that were served before stay until the next read has the same result, or until a manual trigger.',
      ),
    ),
    git: optional(Git),
    api: optional(Api),
    pvcRef: optional(Claim),
    syncPolicy: optional(SyncPolicy),
    filter: optional(filter((entry) => entry)),
  },
  'A registry: the source of its data, and the filter of the served entries.',
  {
    validations: [
      {
        rule: '[has(self.configMapRef), has(self.git), has(self.api), has(self.pvcRef)].filter(it, it).size() == 1',
        message: 'exactly one of configMapRef, git, api and pvcRef must be set',
      },
    ],
  },
);

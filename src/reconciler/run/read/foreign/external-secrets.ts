// Defines the kinds of External Secrets Operator (external-secrets.io, "API specification") with which manifests
// request Secrets.

import {
  ANYTHING,
  FLAG,
  type ForeignKind,
  fields,
  items,
  LABELS,
  NAME,
  OPEN,
  objectWith,
  TEXT,
  TEXTS,
  word,
} from './words.ts';

const STORE = fields({ name: NAME, kind: TEXT });

/** Location of a value at the provider. */
const REMOTE = fields(
  {
    key: TEXT,
    property: TEXT,
    version: TEXT,
    conversionStrategy: word('Default', 'Unicode'),
    decodingStrategy: word('Auto', 'Base64', 'Base64URL', 'None'),
    metadataPolicy: word('None', 'Fetch'),
    nullBytePolicy: TEXT,
  },
  'key',
);

const SOURCE = fields({
  storeRef: STORE,
  generatorRef: fields({ apiVersion: TEXT, kind: TEXT, name: NAME }, 'kind', 'name'),
});

const FIND = fields({
  name: fields({ regexp: TEXT }),
  path: TEXT,
  tags: LABELS,
  conversionStrategy: word('Default', 'Unicode'),
  decodingStrategy: word('Auto', 'Base64', 'Base64URL', 'None'),
  nullBytePolicy: TEXT,
});

const TEMPLATE = fields({
  type: TEXT,
  engineVersion: word('v1', 'v2'),
  mergePolicy: word('Replace', 'Merge'),
  metadata: fields({ labels: LABELS, annotations: LABELS, finalizers: TEXTS }),
  data: LABELS,
  templateFrom: items(
    fields({ configMap: OPEN, secret: OPEN, literal: TEXT, target: TEXT, valuesDecodingStrategy: TEXT }),
  ),
});

const TARGET = fields({
  name: TEXT,
  creationPolicy: word('Owner', 'Orphan', 'Merge', 'CreateOrMerge', 'None'),
  deletionPolicy: word('Delete', 'Merge', 'Retain'),
  immutable: FLAG,
  template: TEMPLATE,
  manifest: OPEN,
});

const EXTERNAL_SECRET = fields({
  secretStoreRef: STORE,
  refreshInterval: TEXT,
  refreshPolicy: word('CreatedOnce', 'Periodic', 'OnChange'),
  syncWindows: OPEN,
  target: TARGET,
  data: items(fields({ secretKey: NAME, remoteRef: REMOTE, sourceRef: SOURCE }, 'secretKey', 'remoteRef')),
  dataFrom: items(fields({ extract: REMOTE, find: FIND, rewrite: items(OPEN), sourceRef: SOURCE })),
});

const CONDITIONS = items(fields({ namespaceSelector: OPEN, namespaces: TEXTS, namespaceRegexes: TEXTS }));

/** A store of secrets. The fields of `provider` are not checked, because each provider has different fields. */
const SECRET_STORE = fields(
  { provider: OPEN, controller: TEXT, conditions: CONDITIONS, refreshInterval: ANYTHING, retrySettings: OPEN },
  'provider',
);

const CLUSTER_EXTERNAL_SECRET = fields(
  {
    externalSecretSpec: EXTERNAL_SECRET,
    externalSecretName: TEXT,
    externalSecretMetadata: OPEN,
    namespaceSelector: OPEN,
    namespaceSelectors: items(OPEN),
    namespaces: TEXTS,
    refreshTime: TEXT,
  },
  'externalSecretSpec',
);

const PUSH_SECRET = fields(
  {
    secretStoreRefs: items(OPEN),
    selector: fields({ secret: OPEN, generatorRef: OPEN }),
    refreshInterval: TEXT,
    updatePolicy: word('Replace', 'IfNotExists'),
    deletionPolicy: word('Delete', 'None'),
    data: items(fields({ match: OPEN, metadata: ANYTHING, conversionStrategy: TEXT }, 'match')),
    dataTo: items(OPEN),
    template: TEMPLATE,
  },
  'secretStoreRefs',
  'selector',
);

const VERSIONS = ['external-secrets.io/v1', 'external-secrets.io/v1beta1'];

export const EXTERNAL_SECRETS: readonly ForeignKind[] = [
  { apiVersions: VERSIONS, kind: 'ExternalSecret', namespaced: true, schema: objectWith(EXTERNAL_SECRET) },
  { apiVersions: VERSIONS, kind: 'SecretStore', namespaced: true, schema: objectWith(SECRET_STORE) },
  { apiVersions: VERSIONS, kind: 'ClusterSecretStore', namespaced: false, schema: objectWith(SECRET_STORE) },
  {
    apiVersions: VERSIONS,
    kind: 'ClusterExternalSecret',
    namespaced: false,
    schema: objectWith(CLUSTER_EXTERNAL_SECRET),
  },
  {
    apiVersions: ['external-secrets.io/v1alpha1'],
    kind: 'PushSecret',
    namespaced: true,
    schema: objectWith(PUSH_SECRET),
  },
];

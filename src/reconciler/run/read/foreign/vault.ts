// Defines the kinds of Vault Secrets Operator (developer.hashicorp.com, "Vault Secrets Operator: API reference").

import {
  ANYTHING,
  COUNT,
  FLAG,
  type ForeignKind,
  fields,
  items,
  LABELS,
  OPEN,
  objectWith,
  TEXT,
  TEXTS,
  word,
} from './words.ts';

const DESTINATION = fields(
  {
    name: TEXT,
    create: FLAG,
    overwrite: FLAG,
    labels: LABELS,
    annotations: LABELS,
    type: TEXT,
    transformation: OPEN,
  },
  'name',
);

const RESTARTS = items(fields({ kind: TEXT, name: TEXT }, 'kind', 'name'));

/** Fields of all kinds that write a Secret. */
const SECRET = {
  vaultAuthRef: TEXT,
  namespace: TEXT,
  mount: TEXT,
  destination: DESTINATION,
  rolloutRestartTargets: RESTARTS,
};

const STATIC = fields(
  {
    ...SECRET,
    path: TEXT,
    type: word('kv-v1', 'kv-v2'),
    version: COUNT,
    refreshAfter: TEXT,
    hmacSecretData: FLAG,
    syncConfig: fields({ instantUpdates: FLAG }),
  },
  ...['destination', 'mount', 'path', 'type'],
);

const DYNAMIC = fields(
  {
    ...SECRET,
    path: TEXT,
    params: LABELS,
    requestHTTPMethod: word('GET', 'POST', 'PUT'),
    renewalPercent: { ...COUNT, minimum: 0, maximum: 90 },
    revoke: FLAG,
    allowStaticCreds: FLAG,
    refreshAfter: TEXT,
  },
  ...['destination', 'mount', 'path'],
);

const PKI = fields(
  {
    ...SECRET,
    role: TEXT,
    issuerRef: TEXT,
    commonName: TEXT,
    altNames: TEXTS,
    ipSans: TEXTS,
    uriSans: TEXTS,
    otherSans: ANYTHING,
    userIDs: TEXTS,
    ttl: TEXT,
    notAfter: TEXT,
    format: TEXT,
    privateKeyFormat: TEXT,
    expiryOffset: TEXT,
    excludeCNFromSans: FLAG,
    revoke: FLAG,
    clear: FLAG,
  },
  ...['destination', 'mount', 'role'],
);

const SERVICE_ACCOUNT = { role: TEXT, serviceAccount: TEXT, audiences: TEXTS, tokenExpirationSeconds: COUNT };

/** Fields of each authentication method. `VaultAuthGlobal` may have several methods. */
const METHODS = {
  kubernetes: fields(SERVICE_ACCOUNT),
  jwt: fields({ ...SERVICE_ACCOUNT, secretRef: TEXT }),
  appRole: fields({ roleId: TEXT, secretRef: TEXT, secretIDPath: TEXT }),
  aws: fields({
    role: TEXT,
    region: TEXT,
    headerValue: TEXT,
    sessionName: TEXT,
    stsEndpoint: TEXT,
    iamEndpoint: TEXT,
    secretRef: TEXT,
    irsaServiceAccount: TEXT,
  }),
  gcp: fields({
    role: TEXT,
    workloadIdentityServiceAccount: TEXT,
    region: TEXT,
    clusterName: TEXT,
    projectID: TEXT,
  }),
};

const AUTH = fields({
  ...METHODS,
  vaultConnectionRef: TEXT,
  vaultAuthGlobalRef: fields({ name: TEXT, namespace: TEXT, allowDefault: FLAG, mergeStrategy: OPEN }),
  namespace: TEXT,
  allowedNamespaces: TEXTS,
  method: word(...Object.keys(METHODS)),
  mount: TEXT,
  params: LABELS,
  headers: LABELS,
  storageEncryption: fields({ mount: TEXT, keyName: TEXT }, 'mount', 'keyName'),
});

const CONNECTION = fields(
  {
    address: TEXT,
    headers: LABELS,
    tlsServerName: TEXT,
    caCertSecretRef: TEXT,
    caCertPath: TEXT,
    skipTLSVerify: FLAG,
    timeout: TEXT,
  },
  'address',
);

function ofVault(kind: string, spec: ForeignKind['schema']): ForeignKind {
  return { apiVersions: ['secrets.hashicorp.com/v1beta1'], kind, namespaced: true, schema: objectWith(spec) };
}

export const VAULT_SECRETS: readonly ForeignKind[] = [
  ofVault('VaultConnection', CONNECTION),
  ofVault('VaultAuth', AUTH),
  ofVault('VaultAuthGlobal', OPEN),
  ofVault('VaultStaticSecret', STATIC),
  ofVault('VaultDynamicSecret', DYNAMIC),
  ofVault('VaultPKISecret', PKI),
  ofVault('SecretTransformation', OPEN),
  ofVault('CSISecrets', OPEN),
  ofVault('HCPAuth', OPEN),
  ofVault('HCPVaultSecretsApp', OPEN),
];

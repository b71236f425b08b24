// Defines fields that the registry service's configuration and `configYAML` share, in the form for files.

import { DATABASE } from '../database-fields.ts';
import { fileForm, filled, setting } from '../file-form.ts';
import { GIT, PROVIDER } from './fields.ts';

export const GIT_SETTINGS = {
  repository: fileForm(GIT.repository),
  branch: setting(GIT.branch),
  tag: setting(GIT.tag),
  commit: setting(GIT.commit),
  path: setting(GIT.path),
};

export const DATABASE_LOGIN = {
  host: setting(filled(DATABASE.host)),
  port: setting(DATABASE.port),
  user: setting(filled(DATABASE.user)),
  migrationUser: setting(filled(DATABASE.migrationUser)),
  database: setting(filled(DATABASE.database)),
  sslMode: setting(DATABASE.sslMode),
};

export const DATABASE_POOL = {
  maxOpenConns: setting(DATABASE.maxOpenConns),
  maxIdleConns: setting(DATABASE.maxIdleConns),
  connMaxLifetime: setting(DATABASE.connMaxLifetime),
};

export const PROVIDER_TOKENS = {
  name: PROVIDER.name,
  issuerUrl: fileForm(PROVIDER.issuerUrl),
  audience: PROVIDER.audience,
};

export const PROVIDER_ENDPOINTS = {
  jwksUrl: setting(PROVIDER.jwksUrl),
  introspectionUrl: setting(PROVIDER.introspectionUrl),
  clientId: setting(filled(PROVIDER.clientId)),
};

// Where MCPRegistry renders the configuration of its service into.

/** `{name of the MCPRegistry}` and this: name of the ConfigMap. */
export const REGISTRY_CONFIG_SUFFIX = '-registry-server-config';
/** The key that holds the file, and the file's name where it is mounted. */
export const REGISTRY_CONFIG_KEY = 'config.yaml';

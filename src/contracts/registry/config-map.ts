// Defines the name of the ConfigMap into which an MCPRegistry renders the configuration of its service.

/** Suffix of the ConfigMap's name, after the name of the MCPRegistry. */
export const REGISTRY_CONFIG_SUFFIX = '-registry-server-config';
/** Key in the ConfigMap, which is also the name of the mounted file. */
export const REGISTRY_CONFIG_KEY = 'config.yaml';

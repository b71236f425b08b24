// Names the ConfigMap into which MCPRegistry renders the configuration of its service.

/** The suffix after the name of the MCPRegistry in the name of the ConfigMap. */
export const REGISTRY_CONFIG_SUFFIX = '-registry-server-config';
/** The key of the file, and the name of the mounted file. */
export const REGISTRY_CONFIG_KEY = 'config.yaml';

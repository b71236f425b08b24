// Defines the default API group of custom resources, which existing manifests use.

export const DEFAULT_API_GROUP = 'toolhive.stacklok.dev';

// Names the API group of custom resources unless the settings name another: the group that existing manifests use.

export const DEFAULT_API_GROUP = 'toolhive.stacklok.dev';

// The API group of the custom resources where no one names another: the one that existing manifests use.

export const DEFAULT_API_GROUP = 'toolhive.stacklok.dev';

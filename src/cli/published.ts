// Names the URLs at which the project is published.

/** URL of the pages of docs/. */
export const DOCUMENTATION = 'https://skep.dev/docs';

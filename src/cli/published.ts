// Names the URLs at which the project is published.

/** The pages of docs/. */
export const DOCUMENTATION = 'https://skep.dev/docs';

// Names the places where the project publishes itself.

/** docs/, as pages. */
export const DOCUMENTATION = 'https://skep.dev/docs';

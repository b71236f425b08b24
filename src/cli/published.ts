// Where the project publishes itself. The only place that knows.

/** docs/, as pages. */
export const DOCUMENTATION = 'https://skep.dev/docs';

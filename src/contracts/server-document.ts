// Defines names in server.json documents, for publishers, the catalogue and its store.

/** Schema of the documents that skep creates. */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Key of `_meta` whose value the publisher writes (official schema 2025-12-11). */
export const PUBLISHER_PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';

// Defines names inside a server.json that publishers, the catalogue and its store share.

/** Schema of the documents that skep itself creates. */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Key of `_meta` inside a server.json that the publisher fills (official schema 2025-12-11). */
export const PUBLISHER_PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';

// Defines names inside a server.json, shared by publishers, the catalogue and the catalogue's store.

/** Schema of the documents that skep itself creates. */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Key of `_meta` inside a server.json that the publisher fills (official schema 2025-12-11). */
export const PUBLISHER_PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';

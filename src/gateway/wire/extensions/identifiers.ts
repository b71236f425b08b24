// Identifiers of the extensions of MCP that are understood.

/** SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** SEP-2640: a skill is a folder of resources, and is named by the URI of one of them. */
export const SKILLS = 'io.modelcontextprotocol/skills';

// The lists that servers have, by the key of their items in a result.

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export const LIST_NAMES: readonly ListName[] = ['tools', 'prompts', 'resources', 'resourceTemplates'];

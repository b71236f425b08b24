// Lists the codes of problems in the content and the declaration of registry sources.

export const CATALOGUE_CODES = {
  'registry-not-json':
    'The content of a registry source is not JSON. Correct it at the given line; until then the last good entries are served.',
  'registry-wrong-shape':
    'The content of a registry source is JSON, but not a registry file of the declared format. Check `format` and `path`; until then the last good entries are served.',
  'registry-entry-invalid':
    'An entry of a registry file breaks the format and is left out; the other entries are served. If an earlier version of the entry was served, that version stays unchanged.',
  'registry-entry-duplicate':
    'A registry file has two entries with the same name and version. The first one is served; remove or rename the other.',
  'registry-nothing-valid':
    'No entry of a registry file is valid, so the file was not taken over. Correct the entries; until then the last good ones are served.',
  'registry-filter-keeps-nothing':
    'A filter excludes all entries of the source. Patterns are compared with the served names: an entry `gamma` of the format `toolhive` is served as `io.github.stacklok/gamma`. Correct the filter.',
  'registry-filter-malformed':
    'A name pattern of a filter is malformed, so the source was not taken over. Correct the pattern; until then the last good entries are served.',
} as const;

export type CatalogueCode = keyof typeof CATALOGUE_CODES;

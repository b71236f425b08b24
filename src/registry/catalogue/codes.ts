// The codes of problems with the content and the declaration of a registry source.

export const CATALOGUE_CODES = {
  'registry-not-json':
    'The content of a registry source is no JSON. Correct it at the given line; until then the last good entries are served.',
  'registry-wrong-shape':
    'The content of a registry source is JSON, but no registry file of the declared format. Check `format` and `path`; until then the last good entries are served.',
  'registry-entry-invalid':
    'One entry of a registry file breaks the format and is left out; the others are served. What was served of it before stays as it is.',
  'registry-entry-duplicate':
    'A registry file has two entries of the same name and version. The first one is served; remove or rename the other.',
  'registry-nothing-valid':
    'Not one entry of a registry file is valid, so it was not taken over. Correct the entries; until then the last good ones are served.',
  'registry-filter-keeps-nothing':
    'A filter keeps no entry although the source has entries. Patterns see names as they are served: an entry `gamma` of the format `toolhive` is served as `io.github.stacklok/gamma`. Correct the filter.',
  'registry-filter-malformed':
    'A name pattern of a filter is malformed, so the source was not taken over. Correct the pattern; until then the last good entries are served.',
} as const;

export type CatalogueCode = keyof typeof CATALOGUE_CODES;

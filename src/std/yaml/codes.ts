// Lists the codes of YAML problems.

export const YAML_CODES = {
  'encoding-invalid':
    'A file is not UTF-8 text, but for example UTF-16, as PowerShell writes it: save it as UTF-8. If the file holds manifests, nothing of its source is deleted until then.',
  'yaml-syntax': 'The text is not YAML that Kubernetes reads (YAML 1.1 or JSON): correct it at the named place.',
  'yaml-duplicate-key': 'A mapping holds the same key twice: remove one of the two.',
  'yaml-alias-bomb': 'Aliases make the document far too large, or contain themselves: write the values out.',
  'yaml-key-reserved':
    'A key is named `__proto__`, which programs like this one cannot carry everywhere without loss: give it another name.',
  'yaml-integer-precision': 'An integer beyond 2^53 cannot be carried exactly: quote it, or write a smaller one.',
} as const;

export type YamlCode = keyof typeof YAML_CODES;

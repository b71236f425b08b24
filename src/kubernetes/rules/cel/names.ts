// Escapes field names that are not CEL identifiers. Source: CustomResourceDefinition validation rules, "Field names".

const RESERVED: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** True if the name is a reserved word that may still follow a dot. */
export function isSelectable(name: string): boolean {
  return RESERVED.has(name) && !['true', 'false', 'null', 'in'].includes(name);
}

/** Returns undefined if rules cannot access the field. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\-/][\w.\-/]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[.\-/]/g, (part) => ESCAPES[part] ?? part);
}

// Finds repeated keys in JSON texts. JSON.parse silently keeps the last value, but a strict API server reports the key.

/**
 * Returns the paths (`spec.ports[0].name`) of keys that occur more than once in their object. Each path is returned
 * once. The text must be valid JSON, because the scanner does not check the syntax.
 */
export function duplicateKeys(text: string): string[] {
  const scanner: Scanner = { text, position: 0, duplicates: new Set() };
  scanValue(scanner, '');
  return [...scanner.duplicates];
}

interface Scanner {
  readonly text: string;
  position: number;
  readonly duplicates: Set<string>;
}

function scanValue(scanner: Scanner, path: string): void {
  skipBlanks(scanner);
  switch (scanner.text[scanner.position]) {
    case '{':
      scanObject(scanner, path);
      return;
    case '[':
      scanArray(scanner, path);
      return;
    case '"':
      scanString(scanner);
      return;
    default:
      while (scanner.position < scanner.text.length && !isDelimiter(scanner.text[scanner.position])) {
        scanner.position += 1;
      }
  }
}

function scanObject(scanner: Scanner, path: string): void {
  const seen = new Set<string>();
  scanner.position += 1;
  for (;;) {
    skipBlanks(scanner);
    if (scanner.text[scanner.position] !== '"') break;
    const key = scanString(scanner);
    const below = path === '' ? key : `${path}.${key}`;
    if (seen.has(key)) scanner.duplicates.add(below);
    seen.add(key);
    skipBlanks(scanner);
    scanner.position += 1;
    scanValue(scanner, below);
    if (!skipComma(scanner)) break;
  }
  scanner.position += 1;
}

function scanArray(scanner: Scanner, path: string): void {
  scanner.position += 1;
  skipBlanks(scanner);
  for (let index = 0; scanner.text[scanner.position] !== ']'; index += 1) {
    scanValue(scanner, `${path}[${index}]`);
    if (!skipComma(scanner)) break;
  }
  scanner.position += 1;
}

function scanString(scanner: Scanner): string {
  const start = scanner.position;
  scanner.position += 1;
  while (scanner.text[scanner.position] !== '"') scanner.position += scanner.text[scanner.position] === '\\' ? 2 : 1;
  scanner.position += 1;
  return JSON.parse(scanner.text.slice(start, scanner.position)) as string;
}

/** Skips a comma, if there is one. Returns true if it skipped a comma. */
function skipComma(scanner: Scanner): boolean {
  skipBlanks(scanner);
  if (scanner.text[scanner.position] !== ',') return false;
  scanner.position += 1;
  skipBlanks(scanner);
  return true;
}

function skipBlanks(scanner: Scanner): void {
  while (isJsonBlank(scanner.text[scanner.position])) scanner.position += 1;
}

function isJsonBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}

function isDelimiter(character: string | undefined): boolean {
  return character === ',' || character === '}' || character === ']' || isJsonBlank(character);
}

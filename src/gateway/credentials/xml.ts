// Parses the simple XML of token services: elements and text, ignoring attributes. Refuses document types, custom
// entities, comments and processing instructions. Token services do not send these parts, and XML attacks need them.

const DECLARATION = /^\uFEFF?\s*(?:<\?xml\s[^<>?]*\?>)?/;
const ATTRIBUTE = `\\s+[A-Za-z_][\\w:.-]*\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`;
/** Matches the start or the end of an element, or text. */
const PIECE = new RegExp(`<(/?)([A-Za-z_][\\w.-]*)((?:${ATTRIBUTE})*)\\s*(/?)>|([^<]+)`, 'y');
const DEPTH_MAX = 16;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ENTITY = /&([^;&\s]{0,16};)?/g;

/**
 * Returns the texts of elements without children, by path (`Answer/Result/Id`). undefined if the document is invalid,
 * or if two such elements have the same path.
 */
export function readXml(text: string): ReadonlyMap<string, string> | undefined {
  const leaves = new Map<string, string>();
  const open: string[] = [];
  let leaf: string | undefined;
  let ended = false;
  PIECE.lastIndex = DECLARATION.exec(text)?.[0].length ?? 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text);
    if (piece === null) return undefined;
    const [, slash, name, attributes, empty, characters] = piece;
    if (name === undefined) {
      if (open.length === 0 && characters?.trim() !== '') return undefined;
      if (leaf !== undefined) leaf += characters ?? '';
      continue;
    }
    if (slash === '') {
      if (ended || open.length === DEPTH_MAX) return undefined;
      open.push(name);
      leaf = '';
      if (empty === '') continue;
    } else if (attributes !== '' || empty !== '' || open.at(-1) !== name) return undefined;
    if (leaf !== undefined && !addLeaf(leaves, open.join('/'), leaf)) return undefined;
    open.pop();
    leaf = undefined;
    ended = open.length === 0;
  }
  return ended ? leaves : undefined;
}

/** Stores the text of an element. Returns false if the text is invalid or the path already has a text. */
function addLeaf(leaves: Map<string, string>, path: string, raw: string): boolean {
  const text = withoutEntities(raw);
  if (text === undefined || leaves.has(path)) return false;
  leaves.set(path, text);
  return true;
}

function withoutEntities(raw: string): string | undefined {
  let readable = true;
  const text = raw.replace(ENTITY, (_whole, entity: string | undefined) => {
    const character = characterOf(entity?.slice(0, -1) ?? '');
    if (character === undefined) readable = false;
    return character ?? '';
  });
  return readable ? text : undefined;
}

function characterOf(entity: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(entity) ?? [];
  if (hex === undefined && decimal === undefined) return Object.hasOwn(ENTITIES, entity) ? ENTITIES[entity] : undefined;
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

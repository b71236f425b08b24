// Models how Go's encoding/json (version 1) reads a body into structs: keys match by Unicode case folding, the last
// duplicate key wins, duplicate objects are merged, and null keeps the earlier value.

export interface GoCall {
  jsonrpc: string;
  /** Raw JSON of the id, as in json.RawMessage. */
  id: string;
  method: string;
  name: string;
  uri: string;
  taskId: string;
  refType: string;
  refName: string;
  refUri: string;
  protocolVersion: string;
  /** Arguments as `map[string]any`, whose keys are case-sensitive. */
  arguments: Record<string, unknown> | undefined;
}

type Node =
  | { readonly type: 'object'; readonly members: readonly (readonly [string, Node])[]; readonly raw: string }
  | { readonly type: 'array'; readonly items: readonly Node[]; readonly raw: string }
  | { readonly type: 'string'; readonly value: string; readonly raw: string }
  | { readonly type: 'number' | 'true' | 'false' | 'null'; readonly raw: string };

/** Returns undefined if Go reports an error: invalid JSON, a wrong type, or a number outside of float64. */
export function readAsGo(body: Buffer): GoCall | undefined {
  try {
    return readCall(parse(body));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readCall(root: Node): GoCall {
  const call: GoCall = {
    jsonrpc: '',
    id: '',
    method: '',
    name: '',
    uri: '',
    taskId: '',
    refType: '',
    refName: '',
    refUri: '',
    protocolVersion: '',
    arguments: undefined,
  };
  const text = (key: Exclude<keyof GoCall, 'arguments'>) => (node: Node) => {
    if (node.type === 'null') return;
    if (node.type !== 'string') throw new SyntaxError(`${key} is no string`);
    call[key] = node.value;
  };
  const ref = { type: text('refType'), name: text('refName'), uri: text('refUri') };
  const meta = { 'io.modelcontextprotocol/protocolVersion': text('protocolVersion') };
  const params = {
    name: text('name'),
    uri: text('uri'),
    taskId: text('taskId'),
    ref: (node: Node) => assign(node, ref),
    _meta: (node: Node) => assign(node, meta),
    arguments: (node: Node) => {
      if (node.type === 'null') call.arguments = undefined;
      else if (node.type !== 'object') throw new SyntaxError('arguments is no object');
      else call.arguments = { ...call.arguments, ...(plain(node) as Record<string, unknown>) };
    },
  };
  assign(root, {
    jsonrpc: text('jsonrpc'),
    id: (node) => {
      call.id = node.raw;
    },
    method: text('method'),
    params: (node) => assign(node, params),
  });
  return call;
}

type Fields = Readonly<Record<string, (node: Node) => void>>;

function assign(node: Node, fields: Fields): void {
  if (node.type === 'null') return;
  if (node.type !== 'object') throw new SyntaxError('no object');
  const folded = new Map(Object.entries(fields).map(([key, set]) => [fold(key), set]));
  for (const [key, value] of node.members) {
    const set = Object.hasOwn(fields, key) ? fields[key] : folded.get(fold(key));
    set?.(value);
  }
}

/** Applies Unicode simple folding for ASCII keys. Besides upper case, only U+017F and U+212A fold to ASCII letters. */
function fold(key: string): string {
  return key
    .replace(/[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll('\u017f', 'S')
    .replaceAll('\u212a', 'K');
}

function plain(node: Node): unknown {
  switch (node.type) {
    case 'object': {
      const value: Record<string, unknown> = Object.create(null);
      for (const [key, member] of node.members) value[key] = plain(member);
      return value;
    }
    case 'array':
      return node.items.map(plain);
    case 'string':
      return node.value;
    case 'number': {
      const value = Number(node.raw);
      if (!Number.isFinite(value)) throw new SyntaxError(`${node.raw} fits no float64`);
      return value;
    }
    case 'null':
      return null;
    default:
      return node.type === 'true';
  }
}

/** Parses the body. Go and `toString` replace invalid UTF-8 by U+FFFD. A byte order mark is an error. */
function parse(body: Buffer): Node {
  const text = body.toString('utf8');
  const end = { at: 0 };
  const node = parseValue(text, end, 0);
  if (skip(text, end.at) !== text.length) throw new SyntaxError('more than one value');
  return node;
}

interface Place {
  at: number;
}

function skip(text: string, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at += 1;
  return at;
}

function parseValue(text: string, place: Place, depth: number): Node {
  place.at = skip(text, place.at);
  const start = place.at;
  const first = text.charAt(start);
  if (depth > 10_000) throw new SyntaxError('too deep');
  if (first === '"') {
    const value = parseString(text, place);
    return { type: 'string', value, raw: text.slice(start, place.at) };
  }
  if (first === '{' || first === '[')
    return first === '{' ? parseObject(text, place, depth) : parseArray(text, place, depth);
  const scalar = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/.exec(
    text.slice(start, start + 400),
  );
  if (scalar === null) throw new SyntaxError(`no value at ${start}`);
  const raw = scalar[0];
  place.at += raw.length;
  return raw === 'true' || raw === 'false' || raw === 'null' ? { type: raw, raw } : { type: 'number', raw };
}

function parseObject(text: string, place: Place, depth: number): Node {
  const start = place.at;
  const members: (readonly [string, Node])[] = [];
  place.at = skip(text, start + 1);
  if (text.charAt(place.at) === '}') {
    place.at += 1;
    return { type: 'object', members, raw: text.slice(start, place.at) };
  }
  for (;;) {
    place.at = skip(text, place.at);
    const key = parseString(text, place);
    place.at = skip(text, place.at);
    if (text.charAt(place.at) !== ':') throw new SyntaxError('no colon');
    place.at += 1;
    members.push([key, parseValue(text, place, depth + 1)]);
    place.at = skip(text, place.at) + 1;
    const after = text.charAt(place.at - 1);
    if (after === '}') return { type: 'object', members, raw: text.slice(start, place.at) };
    if (after !== ',') throw new SyntaxError('no comma');
  }
}

function parseArray(text: string, place: Place, depth: number): Node {
  const start = place.at;
  const items: Node[] = [];
  place.at = skip(text, start + 1);
  if (text.charAt(place.at) === ']') {
    place.at += 1;
    return { type: 'array', items, raw: text.slice(start, place.at) };
  }
  for (;;) {
    items.push(parseValue(text, place, depth + 1));
    place.at = skip(text, place.at) + 1;
    const after = text.charAt(place.at - 1);
    if (after === ']') return { type: 'array', items, raw: text.slice(start, place.at) };
    if (after !== ',') throw new SyntaxError('no comma');
  }
}

const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;

function parseString(text: string, place: Place): string {
  const start = place.at;
  if (text.charAt(start) !== '"') throw new SyntaxError('no string');
  let at = start + 1;
  while (text.charAt(at) !== '"') {
    const escaped = text.charAt(at) === '\\';
    const size = escaped ? (ESCAPE.exec(text.slice(at, at + 6))?.[0].length ?? 0) : 1;
    if (size === 0 || at >= text.length || text.charAt(at) < ' ') throw new SyntaxError('no string');
    at += size;
  }
  place.at = at + 1;
  const value: unknown = JSON.parse(text.slice(start, place.at));
  if (typeof value !== 'string') throw new SyntaxError('no string');
  return value.toWellFormed();
}

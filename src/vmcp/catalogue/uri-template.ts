// Whether a URI is one that a template (RFC 6570) gives. Knows nothing about resources.

const TEMPLATES_MAX = 10_000;
const known = new Map<string, RegExp>();

/** Level 1 to 3, read backwards: values may hold anything but what ends them. */
export function matchTemplate(template: string, uri: string): boolean {
  const found = known.get(template) ?? expressionOf(template);
  if (known.size < TEMPLATES_MAX) known.set(template, found);
  return found.test(uri);
}

/** The parts between are bounded by what a part of that kind cannot hold, so that no match takes long. */
function expressionOf(template: string): RegExp {
  const parts = template.split(/(\{[^{}]*\})/).map((part) => {
    if (!part.startsWith('{') || !part.endsWith('}')) return part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
    switch (part[1]) {
      case '+':
        return '[^?#]*';
      case '#':
        return '(?:#.*)?';
      case '?':
      case '&':
        return '(?:[?&][^#]*)?';
      default:
        return '[^?#]*?';
    }
  });
  return new RegExp(`^${parts.join('')}$`);
}

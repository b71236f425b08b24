// Removes slashes at the ends of a path in linear time. A regular expression that ends in `\/+$` takes quadratic time.

export function withoutEndSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

export function withoutLeadingSlashes(text: string): string {
  let start = 0;
  while (text[start] === '/') start += 1;
  return text.slice(start);
}

// Formats the message that a source waits for another source.

export function textOfWait({ source, for: needed }: { readonly source: string; readonly for: string }): string {
  return `source ${source} waits for source ${needed}`;
}

// Formats the message that one source waits for another source.

/** Returns `source apps waits for source infra`. */
export function textOfWait({ source, for: needed }: { readonly source: string; readonly for: string }): string {
  return `source ${source} waits for source ${needed}`;
}

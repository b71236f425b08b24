// Waits for a signal to stop.

/** Resolves at the first SIGINT or SIGTERM. A second signal ends the process at once. */
export async function awaitSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130));
}

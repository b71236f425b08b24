// Defines how long tests wait for an expected event. The limit only ends tests that hang. It is long, because a busy
// machine may be many times slower than an idle machine.

export const PATIENCE_MS = 300_000;

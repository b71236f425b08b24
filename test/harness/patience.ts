// How long tests wait for what must come. It ends a test that hangs and asserts nothing: on a machine that is busy with something
// else everything takes many times as long as on an idle one.

export const PATIENCE_MS = 300_000;

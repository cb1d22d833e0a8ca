/** Time in an answer: `2026-09-27T19:29:36+0000`, without a colon in the offset. */
export function replyTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+0000`;
}

/** Time in a webhook: `2026-09-27T19:29:36Z`. */
export function webhookTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

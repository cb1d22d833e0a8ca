/** What tests of vendors ask with, and outcomes as they expect them. */
import { expect } from 'vitest';

/** Whoever a request is for. */
export const OF_ACCOUNT = { accountId: 'acc-1' } as const;

export const done = (value: unknown) => ({ outcome: 'done', value });
export const refused = (reason: string) => ({ outcome: 'refused', reason });
/** A text that contains this one. */
export const saying = (text: string): unknown => expect.stringContaining(text);

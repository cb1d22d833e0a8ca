/** Outcomes as tests expect them. */
import { expect } from 'vitest';

export const done = (value: unknown) => ({ outcome: 'done', value });
export const refused = (reason: string) => ({ outcome: 'refused', reason });
/** A text that contains this one. */
export const saying = (text: string): unknown => expect.stringContaining(text);

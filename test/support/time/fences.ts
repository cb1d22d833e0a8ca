// Fences for calls whose time is not under test.
import type { Fence } from '../../../src/domain/fence.ts';

/** The effect may be sent. */
export const OPEN: Fence = { isOver: () => false };
/** Its time is over. */
export const OVER: Fence = { isOver: () => true };

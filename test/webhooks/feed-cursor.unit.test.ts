import { describe, expect, it } from 'vitest';
import { CURSOR_CHARACTERS, FEED_START, readCursor, writeCursor } from '../../src/webhooks/feed.ts';

const OWNER = 'test:acc-1';
const POSITIONS = [
  FEED_START,
  { position: 1n, seq: 0n },
  { position: 4_821_377n, seq: 90_112n },
  { position: 2n ** 62n, seq: 2n ** 63n - 1n },
];

describe('a cursor', () => {
  it.each(POSITIONS)('is read back unchanged: $position, $seq', (position) => {
    const cursor = writeCursor(position, OWNER);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursor).toHaveLength(CURSOR_CHARACTERS);
    expect(readCursor(cursor, OWNER)).toEqual(position);
  });

  it('is invalid with another character at any place', () => {
    const cursor = writeCursor({ position: 4_821_377n, seq: 90_112n }, OWNER);
    for (let index = 0; index < cursor.length; index += 1) {
      const other = cursor[index] === 'A' ? 'B' : 'A';
      expect(readCursor(cursor.slice(0, index) + other + cursor.slice(index + 1), OWNER)).toBeUndefined();
    }
  });

  it('is invalid for another account or environment', () => {
    const cursor = writeCursor({ position: 7n, seq: 1n }, OWNER);
    expect(readCursor(cursor, 'test:acc-2')).toBeUndefined();
    expect(readCursor(cursor, 'live:acc-1')).toBeUndefined();
  });
});

/** Opaque places in a list that only grows at its end. */
import { z } from 'zod';

const PLACE = /^\d{1,18}$/;

/** `list` keeps the cursor of one list from being taken for that of another. */
export function encodeCursor(list: string, place: bigint): string {
  return Buffer.from(`${list}:${place}`).toString('base64url');
}

/** undefined for a text that `encodeCursor` has not made for this list. */
export function decodeCursor(list: string, text: string): bigint | undefined {
  const [name, place = '', ...more] = Buffer.from(text, 'base64url').toString().split(':');
  if (name !== list || more.length > 0 || !PLACE.test(place)) return undefined;
  const decoded = BigInt(place);
  return encodeCursor(list, decoded) === text ? decoded : undefined;
}

/** A cursor in a query, as its place, or `now`. */
export function cursorField(list: string, words: { readonly description: string }) {
  return z
    .string()
    .transform((text, check) => {
      const place = text === 'now' ? text : decodeCursor(list, text);
      if (place !== undefined) return place;
      check.addIssue({ code: 'custom', message: 'must be a `nextCursor` of this list, or `now`' });
      return z.NEVER;
    })
    .meta({ ...words, type: 'string', example: 'now' });
}

/**
 * Query strings, read strictly: broken or repeated parameters are reported, never guessed. Parsing never
 * throws; the route reports the problems when it validates, since by then the caller has been counted and the
 * error shape is known.
 */
import { MAX_QUERY_PARAMETERS } from './limits.ts';

export interface RawQuery {
  /** First value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** Names said more than once, and names written as arrays (`page[]`, `page[0]`), without the brackets. */
  readonly repeated: ReadonlySet<string>;
  /** What is wrong with the query string as a whole. */
  readonly problem: string | undefined;
}

const NO_NAMES: ReadonlySet<string> = new Set();
export const EMPTY_QUERY: RawQuery = { values: new Map(), repeated: NO_NAMES, problem: undefined };

/** Reads what follows the `?` of a URL. */
export function parseQuery(text: string): RawQuery {
  if (text === '') return EMPTY_QUERY;
  if (text.includes('%') && !isDecodable(text)) {
    return { ...EMPTY_QUERY, problem: 'query: malformed percent-encoding' };
  }
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > MAX_QUERY_PARAMETERS) {
      return { values, repeated, problem: `query: more than ${MAX_QUERY_PARAMETERS} parameters` };
    }
    const bracket = name.indexOf('[');
    if (bracket > 0) repeated.add(name.slice(0, bracket));
    else if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated, problem: undefined };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

import { sql, type RawBuilder } from 'kysely';

/** The host of a merchant's URL. What stands behind it may be the merchant's own secret. */
export const hostOf = (url: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`substring(${url} from '^[a-z]+://([^/?#]+)')`;

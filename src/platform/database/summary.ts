import { sql } from 'kysely';

/** To select: how many rows there are, and the earliest of their times; null without rows. */
export const countAndOldest = (at: string) => [
  sql<number>`count(*)::int4`.as('count'),
  sql<Date | null>`min(${sql.ref(at)})`.as('oldestAt'),
];

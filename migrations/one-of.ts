import { sql } from 'kysely';

/** Members of a list of the domain, as SQL: `'NGN', 'USD'`. */
export const membersOf = (list: readonly string[]) => sql.join(list.map((member) => sql.lit(member)));

/** A check that a column has a member of a list: `check (currency in ('NGN', 'USD'))`. */
export const oneOf = (column: string, list: readonly string[]) =>
  sql`check (${sql.ref(column)} in (${membersOf(list)}))`;

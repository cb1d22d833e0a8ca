// Finance at the API on a real database, with five packages on sale and one rate.
import { sql } from 'kysely';
import { afterAll, beforeEach } from 'vitest';
import type { CataloguePackage } from '../../src/catalogue/rules.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { insertRates, type NewRate } from '../../src/catalogue/store/rates.ts';
import { openBooks } from '../support/world/books.ts';
import { basePackage, region } from '../support/money/facts.ts';
import { startApi, type Reply } from '../support/http/api.ts';
import type { ExampleName } from '../support/http/examples.ts';
import { openOperators, personOf, tokenOf } from '../support/http/operators.ts';

export const REASON = 'the bank said so';
export const TERMS = { userMarkupPercent: 50, merchantMarkupPercent: 15, ngnIncrementPercent: 3 };
export const FINANCE = 'finance@operator.example';
export const SECOND = 'second@operator.example';
export const tokens = { [FINANCE]: tokenOf('FINANCE'), [SECOND]: tokenOf('ADMIN') } as const;
export const dataOf = ({ json }: Reply) => (json as { data: Record<string, unknown> }).data;

export async function openPricing() {
  const books = await openBooks();
  const ops = openOperators(books, { configuredRates: { NGN: '2000.00' } });
  await ops.reset();
  // A second person of finance: the administrator of these tests, by another role and address.
  const second = personOf('ADMIN');
  await sql`update accounts.operators set role = 'FINANCE' where user_id = ${second}`.execute(books.owner);
  await sql`update accounts.users set email = ${SECOND} where id = ${second}`.execute(books.owner);
  const api = await startApi({ ops });
  const sell = (packages: CataloguePackage[], at: Date) =>
    replaceCatalogue(books.world, { supplier: 'esim-access', regions: [region()], packages }, at);
  const packages = [1, 2, 3, 4, 5].map((size) =>
    basePackage({ packageCode: `NG-${size}`, slug: `NG_${size}`, cost: BigInt(size) * 10_000n }),
  );
  await sell(packages, new Date());
  const observe = (rate: Partial<NewRate>) =>
    insertRates(books.world, [
      { currency: 'NGN', micros: 1n, source: 'config', observedAt: new Date(), status: 'GOOD', ...rate },
    ]);
  afterAll(async () => {
    await api.close();
    await books.close();
  });
  beforeEach(async () => {
    await sql`delete from test.exchange_rates`.execute(books.owner);
    await sql`delete from test.set_rates`.execute(books.owner);
    await sql`delete from accounts.access_grants`.execute(books.owner);
    await sql`delete from accounts.audit_log where action like 'rate.%'`.execute(books.owner);
    await observe({ micros: 1_500_000_000n });
  });
  const post = (
    target: string,
    body: object,
    who: keyof typeof tokens = FINANCE,
    example?: ExampleName,
  ): Promise<Reply> =>
    api.ask(target, { method: 'POST', body, headers: { authorization: `Bearer ${tokens[who]}` }, example });
  return {
    ...{ books, api, sell, observe, post },
    get: (target: string, example?: string): Promise<Reply> =>
      api.ask(target, { headers: { authorization: `Bearer ${tokens[FINANCE]}` }, example }),
    setRate: (rate: unknown, more: object = {}, example?: ExampleName): Promise<Reply> =>
      post('/ops/rates', { currency: 'NGN', rate, reason: REASON, ...more }, FINANCE, example),
    confirm: (id: unknown, who: keyof typeof tokens) =>
      post(`/ops/rates/${String(id)}/confirm`, { reason: 'the bank says the same' }, who, {
        request: 'confirm',
        answer: 'confirmed',
      }),
  };
}

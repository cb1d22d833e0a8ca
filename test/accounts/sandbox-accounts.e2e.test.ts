// What `npm start` prepares: accounts with money and keys that a restart keeps.
import { expect, it } from 'vitest';
import { revoke } from '../../src/accounts/keys/manage-keys.ts';
import { prepareSandboxAccounts } from '../../src/dev/sandbox-accounts.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';

const stack = await forFile(startStack());

it('a restart keeps the keys; one that was revoked is replaced, and so is one of another database', async () => {
  const folder = new Map<string, string>();
  const start = () =>
    prepareSandboxAccounts(stack.context, {
      read: (currency) => Promise.resolve(folder.get(currency)),
      write: (currency, key) => Promise.resolve(void folder.set(currency, key)),
    });
  const first = await start();
  expect(await start()).toEqual(first);
  const { status, body } = await stack.call('GET', '/api/wallet/balance', { key: first.usd });
  expect([status, body.data.currency]).toEqual([200, 'USD']);
  const usd = await stack.accounts
    .selectFrom('accounts')
    .select('id')
    .where('currency', '=', 'USD')
    .execute();
  for (const { id } of usd) await revoke(stack.accounts, { accountId: id }, 'test');
  const second = await start();
  expect(second.ngn).toBe(first.ngn);
  expect(second.usd).not.toBe(first.usd);
  folder.set('NGN', `${first.ngn.slice(0, -1)}${first.ngn.endsWith('x') ? 'y' : 'x'}`);
  expect((await start()).ngn).not.toBe(first.ngn);
});

// The password again, more than 15 minutes after it was given, and the sessions of a person.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openBrowser, USER_PASSWORD } from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { keepScreenshot } from '../support/world/screenshots.ts';
import { openPages, PHONE } from './browser.ts';
import { fillKey, makeFundedOwner, openMerchant, placeOf } from './merchant.support.ts';

const [browser, stack] = await openPages({ env: SIGN_IN_ENV });
const owner = await makeFundedOwner({ browser, stack });
const keys = async () => (await owner.ask('GET', '/account/keys')).text;

it('is asked for before a key is made; cancelled, nothing is done; given, the key is made as it was typed', async () => {
  const before = await keys();
  await sql`update accounts.user_sessions set confirmed_at = now() - interval '16 minutes'
    where user_id = (select id from accounts.users where email = ${owner.email})`.execute(stack.owner);
  const page = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/developers/keys`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: /key/ });
  const create = () => form.getByRole('button', { name: 'Create the key' }).click();
  const again = page.getByRole('dialog', { name: 'Your password again' });
  await fillKey(page, ['127.0.0.0/8']);
  await again.waitFor();
  await keepScreenshot(page, 'password-again');
  await again.getByRole('button', { name: 'Cancel' }).click();
  await form.getByText('Nothing was done: it needs your password').waitFor();
  expect(await keys()).toBe(before);

  await create();
  await again.getByLabel('Your password').first().fill('not this one, surely');
  await again.getByRole('button', { name: 'Continue' }).click();
  await again.getByText('The password is wrong').waitFor();
  expect(await keys()).toBe(before);

  await again.getByLabel('Your password').first().fill(USER_PASSWORD);
  await again.getByRole('button', { name: 'Continue' }).click();
  await page
    .getByText(/^simway_test_/)
    .first()
    .waitFor();
  expect(await keys()).not.toBe(before);
});

it('each session is listed, and ends by its button', async () => {
  const other = openBrowser(stack);
  const signIn = { email: owner.email, password: USER_PASSWORD };
  expect((await other.call('POST', '/auth/sessions', { body: signIn })).status).toBe(200);
  const page = await openMerchant({ browser, stack }, owner, `${placeOf(owner)}/login`, { viewport: PHONE });
  const sessions = page.getByRole('region', { name: 'Where you are signed in' });
  await sessions.getByText('This browser').waitFor();
  await keepScreenshot(page, 'sessions-phone-whole');
  await sessions.getByRole('button', { name: /^End the session of/ }).click();
  await page.getByRole('button', { name: 'End it' }).click();
  await expect.poll(async () => (await other.call('GET', '/auth/me')).status).toBe(401);
  expect((await owner.ask('GET', '/auth/me')).status).toBe(200);
});

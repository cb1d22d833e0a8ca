// Who reads what installs an eSIM: every route that a member may read × each role, with the ids of one eSIM
// and its purchase. The routes come from the route table, so a new one is tested here as well.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { memberMay, MEMBER_ROLES, type MemberRole } from '../../src/domain/member-roles.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { codeOf, signedUp, type User } from '../support/people/dashboard.ts';
import { makeKey } from '../support/people/keys.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack } from '../support/world/stack.ts';

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));
const inbox = await forFile(startInbox());
const { accountId, apiKey } = await stack.account();

const MESSAGES = '/api/webhooks/messages';

async function memberAs(role: MemberRole): Promise<User> {
  const user = await signedUp(stack);
  await sql`
    insert into accounts.members (account_id, user_id, role)
    select ${accountId}, id, ${role} from accounts.users where email = ${user.email}`.execute(stack.owner);
  return user;
}
const members = new Map<MemberRole, User>();
for (const role of MEMBER_ROLES) members.set(role, await memberAs(role));

const ask = (role: MemberRole, method: string, path: string, body?: unknown) =>
  members.get(role)!.ask(method, path, {
    ...(body === undefined ? {} : { body }),
    headers: { 'Simway-Account': accountId },
  });

const ids = await acquire();

/** An eSIM that can be installed, its purchase, its batch, and a message that was delivered. */
async function acquire() {
  const post = (path: string, body: unknown) => stack.call('POST', path, { key: apiKey, body });
  await post('/api/webhooks/endpoints', { url: `${inbox.url}/own` });
  const { body } = await post('/api/esim/buy', {
    ...{ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
  });
  const [letter] = await inbox.untilAt('/own', 1);
  const found = await stack.call('GET', `${MESSAGES}?eventId=${String(letter!.headers['webhook-id'])}`, {
    key: apiKey,
  });
  const { items } = (found.body as unknown as { data: { items: { id: string; endpointId: string }[] } }).data;
  // It stays installable: sheets show nothing else.
  const rows = [{ reference: 'one', packageCode: 'SIM-MANUAL-LIFE' }];
  const batch = await post('/api/esim/orders/batch', { rows });
  const { batchId } = batch.body.data;
  const completed = await until(
    () => stack.call('GET', `/api/esim/orders/batch/${batchId}`, { key: apiKey }),
    (answer) => answer.body.data.completedAt !== '',
    { what: 'a batch completed' },
  );
  const [ofBatch = ''] = /esim-[0-9a-f]{32}/.exec(completed.text) ?? [];
  const { esimId } = body.esimDetails;
  const linkOf = async (id: string) => {
    const install = await stack.call('GET', `/api/esim/${id}/install`, { key: apiKey });
    return (install.body as unknown as { installUrl: string }).installUrl;
  };
  return {
    ...{ esimId, transactionId: body.transactionId, batchId, packageCode: 'SIM-OK' },
    ...{ installUrl: await linkOf(esimId), ofBatch, batchLink: await linkOf(ofBatch) },
    ...{ messageId: items[0]!.id, endpointId: items[0]!.endpointId },
  };
}

const { ac, ...others } = await installOf(stack, ids.esimId);
const SECRETS = [ac, ids.installUrl, ids.batchLink, ...Object.values(others)].filter(
  (text): text is string => text !== null && text !== '',
);

const TARGETS = createRouteTable({ version: '1', brand: 'simway' })
  .filter(({ method, key }) => method === 'GET' && ['member', 'required', 'optional'].includes(key))
  .map(({ path }) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name as 'esimId']))
  .map((path) => (path === '/api/search' ? `${path}?text=${ids.esimId}` : path));

/** Routes whose answers have something that installs the eSIM. */
const OPEN = [
  `/api/esim/${ids.esimId}`,
  `/api/esim/${ids.esimId}/install`,
  `/api/esim/orders/batch/${ids.batchId}/csv`,
  `/api/esim/orders/batch/${ids.batchId}/sheets`,
  `/api/esim/transactions/${ids.transactionId}`,
  `${MESSAGES}/${ids.messageId}`,
  `${MESSAGES}/${ids.messageId}/attempts`,
].toSorted();
const LISTS = ['/api/esim/my-esims', '/api/events'];

async function leaking(read: (path: string) => Promise<{ text: string }>): Promise<string[]> {
  const found = [];
  for (const path of TARGETS) {
    const { text } = await read(path);
    if (SECRETS.some((secret) => givesAway(text, secret))) found.push(path);
  }
  return found.toSorted();
}

/** Who read the install data of the eSIM, by the audit log. */
async function readers(esimId = ids.esimId): Promise<string[]> {
  const { rows } = await sql<{ actor: string; detail: unknown }>`
    select actor, detail from accounts.audit_log where action = 'esim.read-install' and subject = ${esimId}
     order by id`.execute(stack.owner);
  for (const { detail } of rows) expect(detail).toEqual({ accountId, environment: 'test' });
  return rows.map(({ actor }) => actor);
}

describe('install data', () => {
  it.each(MEMBER_ROLES)(
    'is read by %s where the role may, of one eSIM or one batch at a time',
    async (role) => {
      expect(SECRETS.length).toBeGreaterThan(5);
      const found = await leaking((path) => ask(role, 'GET', path));
      expect(found).toEqual(memberMay(role, 'install') ? OPEN : []);
    },
  );

  it('is recorded once an hour for each person who read it, and for nobody else', async () => {
    const able = MEMBER_ROLES.filter((role) => memberMay(role, 'install'));
    await ask('OWNER', 'GET', `/api/esim/${ids.esimId}`);
    for (const esimId of [ids.esimId, ids.ofBatch])
      expect(await readers(esimId)).toEqual(able.map((role) => members.get(role)!.email));
    await sql`update accounts.audit_log set at = at - interval '61 minutes' where subject = ${ids.esimId}`.execute(
      stack.owner,
    );
    await ask('OWNER', 'GET', `/api/esim/${ids.esimId}/install`);
    expect(await readers()).toHaveLength(able.length + 1);
  });

  it('is read by a key, in lists too, as before', async () => {
    const found = await leaking((path) => stack.call('GET', path, { key: apiKey }));
    expect(found).toEqual([...OPEN, ...LISTS].toSorted());
  });

  it('is left out where SUPPORT asks for a payment to be checked', async () => {
    const { transactionId } = ids;
    const answer = await ask('SUPPORT', 'POST', '/api/esim/confirm-payment', { transactionId });
    expect([answer.status, codeOf(answer)]).toEqual([200, '']);
    expect(SECRETS.filter((secret) => givesAway(answer.text, secret))).toEqual([]);
  });

  it('is left out for a key whose maker may not read it any more, also after they have left', async () => {
    const developer = await memberAs('DEVELOPER');
    const key = await makeKey(stack.accounts, accountId, { scopes: ['read', 'purchase'] }, developer.email);
    const path = `/api/esim/${ids.esimId}`;
    const read = (apiKeyOf: string) => stack.call('GET', path, { key: apiKeyOf });
    expect((await read(key.apiKey)).text).toContain(ac);
    const { rows } = await sql<{ id: string }>`
      select id from accounts.users where email = ${developer.email}`.execute(stack.owner);
    const member = `/account/members/${rows[0]!.id}`;
    expect((await ask('OWNER', 'PATCH', member, { role: 'SUPPORT' })).status).toBe(200);
    const blank = await until(
      () => read(key.apiKey),
      ({ text }) => !text.includes(ac),
      { what: 'a key without install data', withinMs: 10_000 },
    );
    expect(blank.status).toBe(200);
    const buy = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
    const bought = await stack.call('POST', '/api/esim/buy', { key: key.apiKey, body: buy });
    expect([bought.status, codeOf(bought)]).toEqual([403, 'FORBIDDEN']);
    expect((await ask('OWNER', 'DELETE', `${member}?keepKeys=true`)).status).toBe(200);
    const listed = await ask('OWNER', 'GET', '/account/keys');
    expect(listed.text).toContain(`"createdBy":"${developer.email}"`);
    const { items } = listed.body.data as unknown as { items: { keyId: string; scopes: string[] }[] };
    expect(items.find(({ keyId }) => keyId === key.keyId)?.scopes).toEqual(['read']);
    await until(
      async () => (await read(key.apiKey)).text,
      (text) => !text.includes(ac),
      { what: 'a key that is kept' },
    );
  });
});

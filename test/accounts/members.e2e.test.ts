// Every route that takes a member's session × the caller: each role, the owner of another account, no
// session, another site, an operator. The routes come from the route table, so a new route is tested here as
// well.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  memberMay,
  MEMBER_ROLES,
  permissionOfScope,
  type MemberPermission,
  type MemberRole,
} from '../../src/domain/member-roles.ts';
import { opsRoutes } from '../../src/app/routes/ops-routes.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { codeOf, colleague, data, openBrowser, signedUp, type User } from '../support/people/dashboard.ts';
import { makeKey } from '../support/people/keys.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn } from '../support/people/people.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { forFile } from '../support/world/for-file.ts';

const routes = createRouteTable({ version: '1', brand: 'simway' });
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const ofMembers = routes.filter(({ key }) => key === 'member');
const ofUsers = routes.filter(({ key }) => key === 'user').map((route) => [nameOf(route), route] as const);
const ofOperators = opsRoutes({ version: '1' })
  .filter(({ key }) => key === 'session')
  .map((route) => [nameOf(route), route] as const);
const inPlaceOfKeys = routes.filter(({ key }) => key === 'required' || key === 'optional');
const all = [...ofMembers, ...inPlaceOfKeys].map((route) => [nameOf(route), route] as const);
const neededBy = ({ memberPermission, scope }: Route): MemberPermission =>
  memberPermission ?? permissionOfScope(scope);

/** Ids that do not exist: an allowed caller gets "not found", or what is wrong with the body. */
const ID_PREFIX: Readonly<Record<string, string>> = {
  userId: 'user',
  invitationId: 'inv',
  keyId: 'key',
  transactionId: 'txn',
  batchId: 'batch',
  esimId: 'esim',
  endpointId: 'ep',
  messageId: 'msg',
  sessionId: 'checkout',
};
const targetOf = ({ path }: Route): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${ID_PREFIX[name] ?? 'x'}-${'0'.repeat(32)}`);

const stack = await forFile(startStack({ env: { ...SIGN_IN_ENV, SIMWAY_LOG_LEVEL: 'error' } }));
const [owner, outsider] = [await signedUp(stack), await signedUp(stack)];
await sql`update accounts.accounts set plan = 'ENTERPRISE', enterprise_requests_per_minute = 100000`.execute(
  stack.owner,
);
const members = new Map<MemberRole, User>([['OWNER', owner]]);
for (const role of MEMBER_ROLES) if (role !== 'OWNER') members.set(role, await colleague(stack, owner, role));

const bodyOf = ({ method }: Route) => (method === 'GET' || method === 'DELETE' ? {} : { body: {} });

/** Each from its own address, since an address may fail a hundred times a minute. */
let asked = 0;
const ask = (user: User, route: Route, headers: Record<string, string> = {}): Promise<Answer> =>
  user.ask(route.method, targetOf(route), {
    ...bodyOf(route),
    headers: { 'X-Forwarded-For': nextAddress(), ...headers },
  });

function nextAddress(): string {
  asked += 1;
  return `127.9.${Math.trunc(asked / 250)}.${(asked % 250) + 1}`;
}

it('routes for keys need more of a member than reading or buying where they send webhooks or money', () => {
  const own = inPlaceOfKeys.filter(({ memberPermission }) => memberPermission !== undefined);
  const byPermission = Object.groupBy(own, neededBy);
  const named = Object.entries(byPermission).map(([name, found]) => [name, found.map(nameOf).sort()]);
  const endpoint = '/api/webhooks/endpoints/{endpointId}';
  expect(Object.fromEntries(named)).toEqual({
    read: ['POST /api/esim/confirm-payment'],
    fund: ['POST /api/wallet/fund', 'PUT /api/wallet/billing-details', 'PUT /api/wallet/low-balance'],
    install: ['GET /api/esim/orders/batch/{batchId}/sheets'],
    webhooks: [
      ...[`DELETE ${endpoint}`, `PATCH ${endpoint}`, 'POST /api/webhooks/endpoints'],
      `POST ${endpoint}/rotate-secret`,
    ],
    resend: [
      ...[`POST ${endpoint}/recover`, `POST ${endpoint}/sample`],
      'POST /api/webhooks/messages/{messageId}/resend',
    ],
  });
});

describe.each(MEMBER_ROLES)('%s', (role) => {
  it.each(all)('%s', async (_name, route) => {
    const answer = await ask(members.get(role)!, route);
    if (memberMay(role, neededBy(route))) {
      expect([401, 403, 500]).not.toContain(answer.status);
    } else {
      expect([answer.status, codeOf(answer)], answer.text).toEqual([403, 'FORBIDDEN']);
      expect(answer.text).toContain(`Your role ${role} may not`);
    }
  });
});

describe('others', () => {
  it.each(all)('the owner of another account: %s', async (_name, route) => {
    const answer = await ask(outsider, route, { 'Simway-Account': owner.accountId });
    const unknown = await ask(outsider, route, { 'Simway-Account': `acc-${'0'.repeat(32)}` });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'FORBIDDEN']);
    expect(answer.text).toBe(unknown.text);
    for (const known of [owner.accountId, owner.email]) expect(answer.text).not.toContain(known);
  });

  it.each(all.filter(([, { key }]) => key !== 'optional'))('without a session: %s', async (_name, route) => {
    const headers = { 'Simway-Account': owner.accountId, 'Simway-Environment': 'test' };
    const asked = { ...bodyOf(route), headers };
    const answer = await openBrowser(stack).call(route.method, targetOf(route), asked);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'UNAUTHORIZED']);
  });

  it.each(all.filter(([, { method }]) => method !== 'GET'))(
    'a page of another site: %s',
    async (_name, route) => {
      const answer = await ask(owner, route, {
        'Sec-Fetch-Site': 'cross-site',
        Origin: 'https://evil.example',
      });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'FORBIDDEN']);
    },
  );

  it('an operator is refused on every route, since operators are members of no account', async () => {
    const person = await signedIn(stack, 'ADMIN');
    const browser = openBrowser(stack);
    await browser.call('POST', '/auth/sessions', { body: { email: person.email, password: PASSWORD } });
    const headers = { 'Simway-Account': owner.accountId, 'Simway-Environment': 'test' };
    for (const [, route] of all) {
      const answer = await browser.call(route.method, targetOf(route), {
        ...bodyOf(route),
        headers: { ...headers, 'X-Forwarded-For': nextAddress() },
      });
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 403]);
    }
  });

  it.each(ofUsers)('without a session, or from a page of another site: %s', async (_name, route) => {
    const answer = await openBrowser(stack).call(route.method, targetOf(route), bodyOf(route));
    expect([answer.status, codeOf(answer)]).toEqual([401, 'UNAUTHORIZED']);
    if (route.method === 'GET') return;
    const foreign = await ask(owner, route, {
      'Sec-Fetch-Site': 'cross-site',
      Origin: 'https://evil.example',
    });
    expect([foreign.status, codeOf(foreign)]).toEqual([403, 'FORBIDDEN']);
  });

  it.each(ofOperators)("a merchant's owner: %s", async (_name, route) => {
    const answer = await ask(owner, route);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'UNAUTHORIZED']);
  });

  it('an owner gets "not found" for what belongs to another account, as for an unknown id', async () => {
    const { user } = data<{ user: { userId: string } }>(await members.get('FINANCE')!.ask('GET', '/auth/me'));
    const invited = await owner.ask('POST', '/account/invitations', {
      body: { email: 'colleague@example.com', role: 'SUPPORT' },
    });
    const { invitationId } = data<{ invitation: { invitationId: string } }>(invited).invitation;
    const { keyId } = await makeKey(stack.accounts, owner.accountId);
    for (const [method, path, body] of [
      ['DELETE', `/account/keys/${keyId}`],
      ['PATCH', `/account/members/${user.userId}`, { role: 'OWNER' }],
      ['DELETE', `/account/members/${user.userId}`],
      ['DELETE', `/account/invitations/${invitationId}`],
    ] as const) {
      const answer = await outsider.ask(method, path, { body });
      const unknown = await outsider.ask(method, path.replace(/-[^-]+$/, `-${'0'.repeat(32)}`), { body });
      expect([answer.status, codeOf(answer)]).toEqual([404, codeOf(unknown)]);
      expect(unknown.status).toBe(404);
    }
    for (const own of [`/account/invitations/${invitationId}`, `/account/keys/${keyId}`])
      expect((await owner.ask('DELETE', own)).status).toBe(200);
  });

  it('none of these requests changed anything', async () => {
    const people = data<{ items: object[] }>(await owner.ask('GET', '/account/members'));
    expect(people.items).toHaveLength(MEMBER_ROLES.length);
    expect((await owner.ask('GET', '/account')).body.data).toMatchObject({ name: 'Ada Ltd' });
  });
});

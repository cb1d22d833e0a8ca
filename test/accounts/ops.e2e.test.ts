// Operators on the whole service, over HTTP only: the first is made by a command and makes the others with a
// second person. Each repairs what their role allows. A refused action is recorded, and nothing that installs
// an eSIM is ever shown.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Role } from '../../src/domain/operator-roles.ts';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { runCommand } from '../support/world/commands.ts';
import { allInstallSecrets } from '../support/vendors/install-data.ts';
import { addSecondFactor, openBrowser } from '../support/people/dashboard.ts';
import { dataOf, PASSWORD, signedIn, signIn, SIGN_IN_ENV, type Person } from '../support/people/people.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { FIXTURE_PACE, pauseSweeps } from '../support/money/stuck-fixture.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

// A second person is needed for a sandbox package, $2.30, and for what one person moves beyond $3 in a day.
const limits = { SIMWAY_APPROVAL_LIMIT: 'USD=2.00', SIMWAY_APPROVAL_LIMIT_PERSON_DAY: 'USD=3.00' };
const stack = await forFile(startStack({ timings: FIXTURE_PACE, env: { ...SIGN_IN_ENV, ...limits } }));
await pauseSweeps(stack);
const buyer = await newBuyer(stack);
/** The command that made the first administrator, before any other operator existed. */
const shell = await runCommand(
  ['person', 'create', '--email', 'First@Operator.example', '--name', 'Ada Obi', '--role', 'ADMIN'],
  stack.env,
);
/** All answers to operators. */
const answerTexts: string[] = [];
let support = await hearing('SUPPORT');
const [operations, finance, secondFinance, admin] = (await Promise.all(
  (['OPERATIONS', 'FINANCE', 'FINANCE', 'ADMIN'] as const).map(hearing),
)) as [Person, Person, Person, Person];

async function hearing(role: Role): Promise<Person> {
  const person = await signedIn(stack, role);
  return {
    ...person,
    call: async (...given) => {
      const answer = await person.call(...given);
      answerTexts.push(answer.text);
      return answer;
    },
  };
}

const REASON = { reason: 'a test says so' };
const NEVER_COMES = { evidence: 'the supplier writes that it never delivers this' };
const actionsPath = (transactionId: string): string => `/ops/purchases/${transactionId}/actions`;
const ask = (who: Person, transactionId: string, action: object): Promise<Answer> =>
  who.call('POST', actionsPath(transactionId), { ...REASON, ...action });

const REFUSED = [403, 'FORBIDDEN'];
const NOT_WAITING = [409, 'ACTION_REFUSED', 'NOT_WAITING'];
const decide = async (who: Person, asked: Answer, how: 'approve' | 'decline' = 'approve') =>
  endOf(await who.call('POST', `/ops/actions/${String(dataOf(asked)['actionId'])}/${how}`));

/** The status of an answer, and the refusal's code if there is one. */
function endOf({ status, body }: Answer): unknown[] {
  const { error } = body as unknown as { error?: { code: string; refusal?: string } | string };
  if (typeof error === 'string') return [status, error];
  return error ? [status, error.code, ...(error.refusal === undefined ? [] : [error.refusal])] : [status];
}

async function delivered(): Promise<string> {
  const { body } = await buyer.buy('SIM-OK');
  await untilClosed(stack, body.transactionId);
  return body.transactionId;
}

/** Bought and held, the supplier does not deliver, and an alert was raised. */
async function stuckPurchase(): Promise<string> {
  const { body } = await buyer.buy('SIM-NEVER-ALLOCATE');
  await until(
    () => operations.call('GET', `/ops/stuck?class=paid-not-delivered&limit=100`),
    (answer) => answer.text.includes(body.transactionId),
    { what: 'a purchase on the stuck list' },
  );
  return body.transactionId;
}

async function recordsOf(transactionId: string): Promise<unknown[]> {
  const answer = await support.call('GET', actionsPath(transactionId));
  const made = dataOf(answer)['made'] as readonly Record<string, unknown>[];
  return made.map(({ action, by, status, refusal, approvedBy }) => [action, by, status, refusal, approvedBy]);
}

const auditOf = (actor: string) =>
  stack.accounts
    .selectFrom('audit_log')
    .select(['action', 'subject', 'detail'])
    .where('actor', '=', actor)
    .orderBy('id')
    .execute();

describe('the first administrator', () => {
  /** Calls in a session of this person. */
  async function opened(email: string, password: string, more: { readonly code?: string } = {}) {
    const { token } = dataOf(await signIn(stack, { email, password, ...more }));
    return (method: string, path: string, body?: unknown): Promise<Answer> =>
      stack.call(method, path, { body, headers: { Authorization: `Bearer ${String(token)}` } });
  }

  it('is made by command, chooses a password, and makes the others', async () => {
    expect({ code: shell.code, stderr: shell.stderr }).toEqual({ code: 0, stderr: '' });
    const made = JSON.parse(shell.stdout) as Record<string, string>;
    expect(made).toMatchObject({ email: 'first@operator.example', role: 'ADMIN', mustChangePassword: true });
    const password = made['oneTimePassword'] ?? '';
    let first = await opened('first@operator.example', password);
    expect(endOf(await first('GET', '/ops/people'))).toEqual(REFUSED);
    const change = { currentPassword: password, newPassword: 'a password of my own' };
    expect(endOf(await first('POST', '/ops/me/password', change))).toEqual([200]);
    expect(endOf(await first('GET', '/ops/people'))).toEqual([403, 'SECOND_FACTOR_REQUIRED']);
    const own = { email: 'first@operator.example', password: change.newPassword };
    const browser = openBrowser(stack);
    await browser.call('POST', '/auth/sessions', { body: own });
    const { recoveryCodes } = await addSecondFactor(browser, own.password);
    first = await opened(own.email, own.password, { code: recoveryCodes[0]! });
    expect(endOf(await first('GET', '/ops/people'))).toEqual([200]);
    const again = await signIn(stack, { email: 'first@operator.example', password });
    expect(endOf(again)).toEqual([401, 'UNAUTHORIZED']);

    const bo = await first('POST', '/ops/people', {
      email: 'bo@operator.example',
      name: 'Bo',
      role: 'SUPPORT',
    });
    expect(bo.status).toBe(201);
    const { person, firstHalf } = dataOf(bo) as { person: { personId: string }; firstHalf: string };
    const confirm = { path: `/ops/people/${person.personId}/confirm`, body: { role: 'SUPPORT' } };
    expect(endOf(await first('POST', confirm.path, confirm.body))).toEqual(REFUSED);
    const { secondHalf } = dataOf(await admin.call('POST', confirm.path, confirm.body));
    const asBo = await opened('bo@operator.example', `${firstHalf}-${String(secondHalf)}`);
    expect(endOf(await asBo('GET', '/ops/me'))).toEqual([200]);
    expect(endOf(await first('PATCH', `/ops/people/${person.personId}`, { disabled: true }))).toEqual([200]);
    expect(endOf(await asBo('GET', '/ops/me'))).toEqual([401, 'INVALID_TOKEN']);
    for (const body of [{ role: 'SUPPORT' }, { disabled: true }])
      expect(endOf(await first('PATCH', `/ops/people/${made['personId']}`, body))).toEqual(REFUSED);
    expect((await auditOf('first@operator.example')).map(({ action }) => action)).toEqual([
      'session.open',
      'user.change-password',
      ...['session.open', 'user.add-second-factor', 'session.open'],
      'session.refuse',
      'person.create',
      'person.change',
    ]);
  });

  it('is locked out by ten wrong passwords, and is unlocked by command', async () => {
    const { email } = await signedIn(stack, 'SUPPORT');
    const from = { 'X-Forwarded-For': '127.6.0.1' };
    await signIn(stack, { email, password: 'wrong' }, from);
    await sql`update sign_in_failures set failed = 9`.execute(stack.accounts);
    for (const password of ['wrong', PASSWORD])
      expect(endOf(await signIn(stack, { email, password }, from))).toEqual([401, 'UNAUTHORIZED']);
    const reset = await runCommand(['person', 'reset-password', '--email', email, '--by', 'ada'], stack.env);
    const { firstHalf } = JSON.parse(reset.stdout) as Record<string, string>;
    const whose = ['--email', email, '--role', 'SUPPORT'];
    const refused = await runCommand(['person', 'confirm', ...whose, '--by', ' ADA'], stack.env);
    expect(refused).toMatchObject({ code: 1, stderr: 'A different administrator must confirm this\n' });
    const confirmed = await runCommand(['person', 'confirm', ...whose, '--by', 'bayo'], stack.env);
    const { secondHalf } = JSON.parse(confirmed.stdout) as Record<string, string>;
    const back = await signIn(stack, { email, password: `${firstHalf}-${secondHalf}` });
    expect([back.status, dataOf(back)['mustChangePassword']]).toEqual([201, true]);
  });
});

describe('a purchase that is stuck', () => {
  it('is found, shown and delivered by operations; support may only check it, and refused actions are recorded', async () => {
    const id = await stuckPurchase();
    const detail = dataOf(await support.call('GET', `/ops/purchases/${id}`));
    expect(detail).toMatchObject({
      transactionId: id,
      status: 'PROCESSING',
      amount: 2.3,
      currency: 'USD',
      attention: { reason: 'SUPPLIER_NEVER_ALLOCATED' },
      hold: { status: 'HELD', amount: 2.3 },
    });
    expect((detail['timeline'] as unknown[]).length).toBeGreaterThan(3);
    expect(dataOf(await support.call('GET', actionsPath(id)))).toMatchObject({
      state: 'delivering',
      yours: ['check-supplier'],
    });

    expect(endOf(await ask(support, id, { action: 'cancel' }))).toEqual(REFUSED);
    expect(endOf(await support.call('POST', `/ops/purchases/${id}/replay`, REASON))).toEqual(REFUSED);
    expect(endOf(await ask(operations, id, { action: 'credit-wallet' }))).toEqual(REFUSED);
    expect(await recordsOf(id)).toEqual([]);
    expect(await auditOf(support.email)).toMatchObject([
      { action: 'session.open' },
      {
        action: 'ops.refuse',
        subject: id,
        detail: { role: 'SUPPORT', wanted: 'perform cancel (requires OPERATIONS or FINANCE)' },
      },
      { action: 'ops.refuse', subject: `POST /ops/purchases/${id}/replay` },
    ]);

    expect(endOf(await ask(support, id, { action: 'check-supplier' }))).toEqual([200]);
    const dry = await operations.call('POST', `/ops/purchases/${id}/replay`, { ...REASON, dryRun: true });
    expect(dataOf(dry)['before']).toEqual(dataOf(dry)['after']);
    const [order] = await stack.supplierOrders(id);
    await fetch(`${stack.supplierControlUrl}/orders/${order!.orderNo}/allocate`, { method: 'POST' });
    const replayed = await operations.call('POST', `/ops/purchases/${id}/replay`, REASON);
    expect(dataOf(replayed)['after']).toBe('SUCCESS, delivered');
    expect((await stack.supplierOrders(id)).length).toBe(1);
    expect((await recordsOf(id))[0]).toEqual(['check-supplier', support.email, 'DONE', null, null]);
  });

  it('is refunded once by a person who may cancel, however often it is requested', async () => {
    const id = await stuckPurchase();
    const before = await buyer.balanceMinor();
    const both = await Promise.all([
      ask(operations, id, { action: 'cancel', ...NEVER_COMES }),
      ask(operations, id, { action: 'cancel', ...NEVER_COMES }),
    ]);
    // $2.30 is above the limit, so nothing is refunded before a second person approves.
    expect(both.map(endOf)).toEqual([[202], [202]]);
    expect(await buyer.balanceMinor()).toBe(before);
    expect(dataOf(both[1])['actionId']).toBe(dataOf(both[0])['actionId']);
    expect(await decide(operations, both[0])).toEqual(REFUSED);
    expect(await decide(finance, both[0])).toEqual([200]);
    expect(await buyer.balanceMinor()).toBe(before + 230n);
    expect(dataOf(await support.call('GET', `/ops/purchases/${id}`))['status']).toBe('FAILED');
    expect(await recordsOf(id)).toEqual([['cancel', operations.email, 'DONE', null, finance.email]]);
  });
});

describe('money', () => {
  it('above the limit takes two people: the same person is refused and recorded, and the second moves it once', async () => {
    const id = await delivered();
    const before = await buyer.balanceMinor();
    const gift = { action: 'credit-wallet', goodwill: true, amount: 2.1, currency: 'USD' };
    const asked = await ask(finance, id, gift);
    expect(endOf(asked)).toEqual([202]);
    const { actionId } = dataOf(asked);
    const waiting = dataOf(await support.call('GET', '/ops/actions/pending'))['items'];
    expect(waiting).toMatchObject([{ actionId, by: finance.email, amount: 2.1, currency: 'USD' }]);

    for (const who of [finance, admin]) expect(await decide(who, asked)).toEqual(REFUSED);
    expect(await buyer.balanceMinor()).toBe(before);
    const approve = () => decide(secondFinance, asked);
    expect(await Promise.all([approve(), approve()])).toContainEqual([200]);
    expect(await buyer.balanceMinor()).toBe(before + 210n);
    expect(await decide(finance, asked, 'decline')).toEqual(NOT_WAITING);
    const records = await recordsOf(id);
    expect(records).toContainEqual(['credit-wallet', finance.email, 'DONE', null, secondFinance.email]);
    expect(records).toContainEqual(['credit-wallet', finance.email, 'REFUSED', 'SAME_PERSON', null]);
    expect(await buyer.balanceMinor()).toBe(before + 210n);
  });
});

describe('one administrator alone', () => {
  it('cannot credit a wallet, or become the person who does', async () => {
    const id = await delivered();
    const before = await buyer.balanceMinor();
    const gift = { action: 'credit-wallet', goodwill: true };
    expect(endOf(await ask(admin, id, gift))).toEqual(REFUSED);
    expect(endOf(await admin.call('POST', `/ops/purchases/${id}/replay`, REASON))).toEqual(REFUSED);
    const puppet = { email: 'puppet@operator.example', name: 'Puppet', role: 'FINANCE' };
    const made = dataOf(await admin.call('POST', '/ops/people', puppet));
    const reset = dataOf(await admin.call('POST', `/ops/people/${support.personId}/reset-password`));
    const raised = await signedIn(stack, 'SUPPORT');
    const change = await admin.call('PATCH', `/ops/people/${raised.personId}`, { role: 'FINANCE' });
    expect(endOf(change)).toEqual([200]);
    expect(endOf(await raised.call('GET', '/ops/me'))).toEqual([401, 'INVALID_TOKEN']);
    // Nothing in the answers opens anything.
    const tries = [
      [puppet.email, ...textsOf(made)],
      [support.email, ...textsOf(reset)],
      [raised.email, PASSWORD, ...textsOf(dataOf(change))],
    ];
    for (const [email = '', ...passwords] of tries)
      for (const password of passwords)
        expect((await signIn(stack, { email, password })).status, email).toBe(401);
    const { personId } = made['person'] as { personId: string };
    const confirm = () => admin.call('POST', `/ops/people/${personId}/confirm`, { role: 'FINANCE' });
    expect(endOf(await confirm())).toEqual(REFUSED);
    expect(await buyer.balanceMinor()).toBe(before);
    support = await hearing('SUPPORT');
  });
});

describe('one person of finance alone', () => {
  it('can split a refund into small ones up to the daily limit, and then needs a second person', async () => {
    const splitter = await hearing('FINANCE');
    const amounts = [0.9, 0.9, 0.8, 0.8, 0.5, 0.5];
    const each = await Promise.all(amounts.map(() => delivered()));
    const before = await buyer.balanceMinor();
    const part = (id: string, amount: number) =>
      ask(splitter, id, { action: 'credit-wallet', goodwill: true, amount, currency: 'USD' });
    const parts = each.map((id, index) => part(id, amounts[index]!));
    const statuses = (await Promise.all(parts)).map(({ status }) => status);
    // $4.40 in all, of which at most $3 move without a second person.
    expect(statuses).toContain(202);
    expect(await buyer.balanceMinor()).toBeLessThanOrEqual(before + 300n);
    const waits = await part(await delivered(), 1.3);
    expect(endOf(waits)).toEqual([202]);
    expect(await decide(finance, waits)).toEqual([200]);
  });

  it('gets no approval from a person whose access they gave today', async () => {
    const [asker, fresh] = await Promise.all([signedIn(stack, 'FINANCE'), signedIn(stack, 'FINANCE')]);
    const id = await delivered();
    const asked = await ask(asker, id, { action: 'credit-wallet', goodwill: true });
    for (const { personId: user_id, email } of [asker, fresh]) {
      const grant = { user_id, email, role: 'FINANCE', given_by: admin.email, given_at: new Date() } as const;
      await stack.accounts.insertInto('access_grants').values(grant).execute();
    }
    expect(await decide(fresh, asked)).toEqual([409, 'ACTION_REFUSED', 'NOT_INDEPENDENT']);
    expect(await decide(finance, asked)).toEqual([200]);
  });
});

/** All texts in an answer's data, two levels deep. */
const textsOf = (data: Record<string, unknown>): string[] =>
  Object.values(data).flatMap((value) =>
    typeof value === 'string'
      ? [value]
      : Object.values((value ?? {}) as Record<string, unknown>).filter((one) => typeof one === 'string'),
  );

describe('secrets', () => {
  it('no answer contains what installs an eSIM, a key, a password or a token', async () => {
    const secrets = (await allInstallSecrets(stack)).filter((one) => one.length > 3);
    expect(secrets.length).toBeGreaterThan(3);
    expect(answerTexts.length).toBeGreaterThan(30);
    const all = answerTexts.join('\n');
    const tokens = [support, operations, finance, admin].map(({ token }) => token);
    const unsayable = [...secrets, ...tokens, buyer.account.apiKey, PASSWORD, 'scrypt', 'LPA:'];
    expect(unsayable.filter((secret) => givesAway(all, secret))).toEqual([]);
  });
});

// Keys made by an operator are shown once. The company's website must answer, and its webhook URL must be one
// that we may call.
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import { hashApiKey } from '../../src/accounts/keys/api-key.ts';
import { writeLastUses } from '../../src/accounts/store/accounts.ts';
import { createCheckedKey } from '../../src/webhooks/create-checked-key.ts';
import { composeWebhooks } from '../../src/app/composition/webhooks.ts';
import { deleteEndpoint, updateEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { SECRETS_KEY, startOperator } from '../support/people/operator-commands.ts';
import { startSecureWebsite } from '../support/world/secure-website.ts';
import { forFile } from '../support/world/for-file.ts';

const operator = await forFile(startOperator());
const [ngn, usd] = [await operator.makeAccount('NGN'), await operator.makeAccount('USD')];

describe('key create', () => {
  it('shows a key once and keeps its hash, with every scope and no expiry by default', async () => {
    const { keyId, apiKey } = await operator.answerOf(
      operator.run(`key create --account ${ngn} ${operator.keyFlags()}`),
    );
    expect(apiKey).toMatch(/^simway_test_/);
    const row = await operator.keyRow(keyId);
    expect(row).toMatchObject({
      account_id: ngn,
      environment: 'test',
      scopes: ['read', 'purchase', 'fund'],
      allowed_addresses: ['127.0.0.1'],
      company_name: 'M',
      website_url: operator.website.baseUrl,
      expires_at: null,
      revoked_at: null,
    });
    expect(row.key_sha256.toString('hex')).toBe(hashApiKey(String(apiKey)));
    expect(JSON.stringify(row)).not.toContain(String(apiKey).slice(-38));
    expect(await operator.auditOf(keyId)).toMatchObject([{ actor: 'ada', action: 'key.create' }]);
  });

  it('takes scopes, expiry, ranges, the live environment and another brand', async () => {
    const secure = await startSecureWebsite();
    const { keyId, apiKey } = await operator.answerOf(
      operator.shell(
        `key create --account ${usd} --environment live --addresses 203.0.113.0/24,2001:db8::1 --website ${secure.url} --company M --scopes read --expires 2999-01-01T00:00:00Z --by ada`,
        [],
        { SIMWAY_BRAND: 'acme', NODE_EXTRA_CA_CERTS: secure.certificateFile },
      ),
    );
    await secure.close();
    expect(apiKey).toMatch(/^acme_live_/);
    expect(await operator.keyRow(keyId)).toMatchObject({
      environment: 'live',
      scopes: ['read'],
      allowed_addresses: ['203.0.113.0/24', '2001:db8::1'],
      expires_at: new Date('2999-01-01T00:00:00Z'),
    });
  });
});

describe('how long a key works', () => {
  const made = async (flags: string, env: Record<string, string> = {}) => {
    const line = `key create --account ${ngn} ${operator.keyFlags()}${flags}`;
    const answer = await operator.answerOf(operator.run(line, [], env));
    const { expires_at: expiresAt } = await operator.keyRow(answer['keyId']);
    // The command prints the expiry together with the key.
    expect(answer['expiresAt']).toBe(expiresAt?.toISOString() ?? null);
    return expiresAt;
  };
  const LIFE = { SIMWAY_API_KEY_LIFE_DAYS: '30' };

  it('is a setting of the operator, and one key may have another', async () => {
    const [byDefault, named, never] = await Promise.all([
      made('', LIFE),
      made(' --expires 2999-01-01T00:00:00Z', LIFE),
      made(' --expires never', LIFE),
    ]);
    const days = ((byDefault?.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30.1);
    expect([named, never]).toEqual([new Date('2999-01-01T00:00:00Z'), null]);
  });

  it('must be in the future and valid', async () => {
    for (const expires of ['2020-01-01T00:00:00Z', 'soon']) {
      const { code, stderr } = await operator.run(
        `key create --account ${ngn} ${operator.keyFlags()} --expires ${expires}`,
      );
      expect([code, stderr]).toEqual([1, expect.stringContaining('--expires: must be ')]);
    }
  });

  it('is listed with the last use, and with nothing that could be used as a key', async () => {
    const account = await operator.makeAccount('USD');
    const keyId = await operator.makeKey(account);
    const list = async () => {
      const { keys } = await operator.answerOf(operator.run(`key list --account ${account}`));
      return keys as Record<string, unknown>[];
    };
    const [key = {}, ...more] = await list();
    const lists = { scopes: ['read', 'purchase', 'fund'], allowedAddresses: ['127.0.0.1'] };
    const times = { expiresAt: null, revokedAt: null, lastUsedAt: null };
    expect(key).toMatchObject({ keyId, environment: 'test', company: 'M', ...lists, ...times });
    expect(key['key']).toMatch(/^simway_test_….{4}$/);
    expect([more, Object.keys(key).filter((name) => /sha|hash/.test(name))]).toEqual([[], []]);
    await writeLastUses(operator.accounts, [keyId]);
    expect((await list())[0]?.['lastUsedAt']).toEqual(expect.any(String));
    expect(await operator.run('key list --account acc-unknown')).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('key create with a webhook URL', () => {
  const url = 'http://127.0.0.1:8080/hooks';

  it('also makes the endpoint, shows its secret once, and sends nothing', async () => {
    const account = await operator.makeAccount('USD');
    const calls = operator.website.calls.length;
    const made = await operator.answerOf(
      operator.run(`key create --account ${account} ${operator.keyFlags()} --webhook-url ${url}`),
    );
    const { endpointId, secret } = made['webhook'] as Record<string, string>;
    expect(made['webhook']).toEqual({ endpointId, url, secret });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const row = await operator.world.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      id: endpointId,
      account_id: account,
      url,
      events: ['esim.purchased'],
      enabled: true,
    });
    expect(row.secret_sealed.toString('latin1')).not.toContain(secret!.slice(6, 16));
    expect(createSecretBox({ key: SECRETS_KEY, previousKeys: [] }).open(row.secret_sealed, row.id)).toBe(
      secret,
    );
    expect(operator.website.calls.length).toBe(calls + 1);
  });

  const make = async (account: string, to: string): Promise<Record<string, unknown>> => {
    const line = `key create --account ${account} ${operator.keyFlags()} --webhook-url ${to}`;
    const { webhook } = await operator.answerOf(operator.run(line));
    return webhook as Record<string, unknown>;
  };
  const endpointsOf = (account: string) =>
    operator.world.selectFrom('webhook_endpoints').selectAll().where('account_id', '=', account).execute();

  it('uses the account’s existing endpoint, says so, and shows no secret', async () => {
    const account = await operator.makeAccount('USD');
    const { endpointId } = await make(account, url);
    const again = await make(account, url.toUpperCase().replace('/HOOKS', '/hooks'));
    expect(again).toEqual({ endpointId, url, reused: true, enabled: true, events: ['esim.purchased'] });
    expect(await make(account, `${url}/other`)).toMatchObject({ secret: expect.any(String) as string });
    expect(await endpointsOf(account)).toHaveLength(2);
    // Another account's endpoint is not used.
    expect(await make(await operator.makeAccount('USD'), url)).toHaveProperty('secret');
  });

  it('uses a disabled endpoint and says so; makes a new one for a deleted one', async () => {
    const account = await operator.makeAccount('USD');
    const { endpointId } = await make(account, url);
    const now = new Date();
    await updateEndpoint(operator.world, account, String(endpointId), { enabled: false, now });
    expect(await make(account, url)).toMatchObject({ endpointId, reused: true, enabled: false });
    await deleteEndpoint(operator.world, account, String(endpointId), now);
    const again = await make(account, url);
    expect(again).toHaveProperty('secret');
    expect(again['endpointId']).not.toBe(endpointId);
  });

  it('makes one endpoint, however many commands request it at once', async () => {
    const account = await operator.makeAccount('USD');
    const all = await Promise.all(Array.from({ length: 6 }, () => make(account, url)));
    expect(new Set(all.map(({ endpointId }) => endpointId)).size).toBe(1);
    expect(all.filter((webhook) => 'secret' in webhook)).toHaveLength(1);
    expect(await endpointsOf(account)).toHaveLength(1);
  });

  it('makes no endpoint when the key cannot be made', async () => {
    const account = await operator.makeAccount('USD');
    const { accounts, world: db, context } = operator;
    const clock = { now: () => new Date() };
    const request = {
      accountId: account,
      environment: 'test',
      brand: 'simway',
      scopes: ['read'],
      // The table refuses a key without addresses.
      allowedAddresses: [],
      companyName: 'M',
      websiteUrl: operator.website.baseUrl,
      expiresAt: null,
      webhookUrl: url,
    } as const;
    const deps = { accounts, db, clock, ...composeWebhooks(context, 'test', clock) };
    await expect(createCheckedKey(deps, request, 'ada')).rejects.toThrow('allowed_addresses');
    expect(await endpointsOf(account)).toEqual([]);
  });

  it.each([
    ['http://10.0.0.1/hooks', 'public address'],
    ['http://localhost/hooks', 'public hostname'],
    ['ftp://127.0.0.1/hooks', 'http'],
  ])('is refused with the reason, and makes no key: %s', async (wrong, word) => {
    const before = await operator.everything();
    const line = `key create --account ${ngn} ${operator.keyFlags()} --webhook-url ${wrong}`;
    const { code, stdout, stderr } = await operator.run(line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const said of ['webhookUrl', word]) expect(stderr).toContain(said);
    expect(await operator.everything()).toEqual(before);
  });
});

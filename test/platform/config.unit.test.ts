// What the environment decides for webhooks and mail: live keeps to the published rules, whatever is set for the sandbox.
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/platform/config/config.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS } from '../../src/webhooks/rules.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://127.0.0.1/simway',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  SIMWAY_ID_SECRET: 'a secret of at least 32 characters',
  SIMWAY_SECRETS_KEY: 'ab'.repeat(32),
  SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:9',
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'unused',
};

const read = (given: Record<string, string> = {}) => readConfig({ ...NEEDED, ...given });

describe('webhooks', () => {
  it('of the live world go to https alone, those of the sandbox to http too', () => {
    const { live, test } = read().config.webhooks;
    expect([live.httpsOnly, test.httpsOnly]).toEqual([true, false]);
  });

  it('of the live world keep the published schedule, however fast the sandbox goes', () => {
    const { live, test } = read({ SIMWAY_TEST_WEBHOOK_SPEED: '500' }).config.webhooks;
    expect([live.waitsMs, live.failingLimitMs]).toEqual([ATTEMPT_WAITS_MS, FAILING_LIMIT_MS]);
    expect([test.waitsMs, test.failingLimitMs]).toEqual([
      ATTEMPT_WAITS_MS.map((ms) => Math.trunc(ms / 500)),
      FAILING_LIMIT_MS / 500,
    ]);
  });

  it('of each world have their own allowed ranges', () => {
    const { live, test } = read({ SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1' }).config.webhooks;
    expect([live.allowedRanges, test.allowedRanges]).toEqual([[], ['127.0.0.0/8', '::1']]);
  });
});

describe('mail', () => {
  it('is sent once there is a server and an address that it comes from', () => {
    expect(read().secrets.mail).toBeUndefined();
    expect(read({ SIMWAY_MAIL_FROM: 'notices@simway.example' }).secrets.mail).toBeUndefined();
    const given = { SIMWAY_SMTP_URL: 'smtps://mail.example', SIMWAY_MAIL_FROM: 'notices@simway.example' };
    expect(read(given).secrets.mail).toEqual({
      smtpUrl: given.SIMWAY_SMTP_URL,
      from: given.SIMWAY_MAIL_FROM,
    });
  });

  it.each([
    [{ SIMWAY_SMTP_URL: 'smtp://mail.example' }, 'SIMWAY_MAIL_FROM'],
    [
      { SIMWAY_SMTP_URL: 'https://u:a-password@mail.example', SIMWAY_MAIL_FROM: 'a@b.example' },
      'SIMWAY_SMTP_URL',
    ],
    [{ SIMWAY_SMTP_URL: 'smtp://mail.example', SIMWAY_MAIL_FROM: 'nobody' }, 'SIMWAY_MAIL_FROM'],
  ])('that cannot be stops the start with the setting’s name, and no value: %j', (given, name) => {
    let said: unknown;
    try {
      read(given);
    } catch (error) {
      said = error;
    }
    expect(said).toBeInstanceOf(ConfigError);
    expect((said as Error).message).toContain(name);
    expect((said as Error).message).not.toContain('a-password');
  });
});

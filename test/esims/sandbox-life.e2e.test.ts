// The ten commands of docs/SANDBOX.md on the whole service, answer by answer; and every fault of its table,
// with its diagnosis. Both are read from the page, so that the page cannot differ from the product.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { DIAGNOSIS_CODES } from '../../src/esims/diagnosis.ts';
import type { ApiBody } from '../support/people/api-body.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { forFile } from '../support/world/for-file.ts';

const GB = 1024 ** 3;
const PAGE = readFileSync(new URL('../../docs/SANDBOX.md', import.meta.url), 'utf8');

const stack = await forFile(startStack());
let buyer: Buyer;
beforeAll(async () => {
  buyer = await newBuyer(stack);
});

interface LivingEsim extends ApiBody {
  readonly activateTime: string;
  readonly expiredTime: string;
}

async function newLife() {
  const { body } = await buyer.buy('SIM-MANUAL-LIFE');
  const { esimId } = body.esimDetails;
  const key = buyer.account.apiKey;
  return {
    read: async (of = '') => (await stack.call('GET', `/api/esim/${esimId}${of}`, { key })).body,
    act: (action: string, body?: object, headers?: Record<string, string>): Promise<Answer> =>
      stack.call('POST', `/api/sandbox/esims/${esimId}/${action}`, { key, body, headers }),
  };
}

describe('the ten commands of the page', () => {
  const [, block = ''] = /^## A whole life in ten lines\n.*?^```sh\n(.*?)^```/ms.exec(PAGE) ?? [];
  const lines = block.split('\n').filter((line) => line.startsWith('curl '));

  /** The API's answers, in order. */
  const ANSWERS: readonly (readonly [number, object])[] = [
    [201, { status: 'SUCCESS' }],
    [200, { esimStatus: 'ACTIVE', smdpStatus: 'ENABLED', validity_usage_remain: 7, totalVolume: GB }],
    [200, { orderUsage: 644_245_095, data_usage_remain: GB - 644_245_095 }],
    [200, { esimStatus: 'ACTIVE', orderUsage: 644_245_095 }],
    [200, { orderUsage: GB, data_usage_remain: 0 }],
    [200, { status: 'SUCCESS' }],
    [200, { totalVolume: 2 * GB, data_usage_remain: GB - 1_000_000, validity_usage_remain: 14 }],
    [200, { esimStatus: 'ACTIVE', validity_usage_remain: 2 }],
    [200, { esimStatus: 'EXPIRED', validity_usage_remain: 0 }],
    [200, { esimStatus: 'EXPIRED', orderUsage: GB + 1_000_000 }],
  ];

  /** Runs a command as a shell would, with `$ESIM` filled in. */
  function run(line: string, esimId: string): Promise<Answer> {
    const filled = line.replaceAll("'$ESIM'", esimId).replaceAll('$ESIM', esimId);
    const [, path = ''] = /"\$URL([^"]+)"/.exec(filled) ?? [];
    const [, body] = / -d '([^']+)'/.exec(filled) ?? [];
    expect(filled).toContain(' -H "X-API-Key: $KEY"');
    const method = body !== undefined || filled.includes(' -X POST ') ? 'POST' : 'GET';
    return stack.call(method, path, { key: buyer.account.apiKey, body });
  }

  it('are ten, and each answers with the eSIM in its new state', async () => {
    expect(lines).toHaveLength(10);
    let esimId = '';
    const older: LivingEsim[] = [];
    for (const [index, line] of lines.entries()) {
      const { status, body, text } = await run(line, esimId);
      const [expectedStatus, expected] = ANSWERS[index]!;
      expect([line, status], text).toEqual([line, expectedStatus]);
      expect(body).toMatchObject(expected);
      esimId ||= /esim-[0-9a-f]*/.exec(text)?.[0] ?? '';
      older.push(body as LivingEsim);
    }
    // The clock advanced twelve days between these two.
    const [before, after] = [older[6]!, older[7]!];
    for (const time of ['activateTime', 'expiredTime'] as const)
      expect(Date.parse(before[time]) - Date.parse(after[time])).toBe(12 * DAY_MS);
    expect(
      await stack.call('POST', `/api/sandbox/esims/${esimId}/use`, {
        key: buyer.account.apiKey,
        body: { bytes: 1 },
      }),
    ).toMatchObject({ status: 409, body: { error: { code: 'SANDBOX_ACTION_REFUSED' } } });
  });
});

describe('the faults that a traveller may have', () => {
  const [, table = ''] = /^\| the traveller's trouble .*\n\|[ |-]+\n((?:\|.*\n)+)/m.exec(PAGE) ?? [];
  const troubles = table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, name = '', actions = '', ...words]) => {
      const [smdpStatus, esimStatus, code] = words.map((word) => word.replaceAll('`', ''));
      return { name, actions: actions === 'none' ? [] : actions.split(', '), smdpStatus, esimStatus, code };
    });

  /** An action as the page writes it. */
  function actionOf(words: string): readonly [string, object?] {
    const [, action = words, more = ''] = /^`([a-z-]+)`(.*)$/.exec(words) ?? [];
    const [, stage] = /^ with stage `([A-Z]+)`$/.exec(more) ?? [];
    if (stage !== undefined) return [action, { stage }];
    const [, bytes] = /^ of (\d+) bytes$/.exec(more) ?? [];
    if (bytes !== undefined) return [action, { bytes: Number(bytes) }];
    const [, hours] = /^ by (\d+) hours or more$/.exec(more) ?? [];
    if (hours !== undefined) return [action, { advanceSeconds: Number(hours) * 3_600 }];
    expect(more).toBe('');
    return [action];
  }

  it('include a life for every code that an action can cause', () => {
    const elsewhere = ['NOT_DELIVERED', 'DELIVERY_FAILED', 'CANCELLED', 'RETURNED', 'REPLACED'];
    for (const code of elsewhere) expect(PAGE).toContain(`\`${code}\``);
    expect(new Set([...troubles.map(({ code }) => code), ...elsewhere])).toEqual(new Set(DIAGNOSIS_CODES));
  });

  it.each(troubles)(
    'lead from $name to the code $code',
    async ({ actions, smdpStatus, esimStatus, code }) => {
      const { read, act } = await newLife();
      for (const [action, body] of actions.map(actionOf))
        expect([action, (await act(action, body)).status]).toEqual([action, 200]);
      expect(await read()).toMatchObject({ esimStatus, smdpStatus });
      expect(await read('/diagnosis')).toMatchObject({ code, esimStatus, smdpStatus });
    },
  );
});

it('an action is done once for an Idempotency-Key, and its answer is not stored', async () => {
  const { act } = await newLife();
  await act('install');
  const once = () => act('use', { bytes: 1_000 }, { 'Idempotency-Key': 'sip' });
  for (const answer of [await once(), await once(), await once()])
    expect(answer.body).toMatchObject({ orderUsage: 1_000 });
  await act('use', { bytes: 1 });
  expect((await once()).body).toMatchObject({ orderUsage: 1_001 });
});

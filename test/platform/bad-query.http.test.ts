// Bad input in query strings: wrong, broken, doubled, oversized and hostile values. Each is named in the
// documented refusal, and no use case runs.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  MAX_PACKAGE_CODE_CHARACTERS,
  MAX_PAGE,
  MAX_QUERY_PARAMETERS,
  MAX_REGION_CODE_CHARACTERS,
  MAX_SEARCH_CHARACTERS,
} from '../../src/platform/http/limits.ts';
import { startApi } from '../support/http/api.ts';
import { baseError, topUpError } from '../support/http/error-bodies.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());
beforeEach(() => {
  api.shop.calls.length = 0;
});

describe('a query string', () => {
  const page = 'must be a whole number from 1 to 1000000';
  const limit = 'must be a whole number from 1 to 100';
  const once = 'must be given once';
  const clean = 'must not contain control characters or broken Unicode';
  test.each([
    ...[
      '0',
      '-1',
      '+1',
      '1.0',
      '1e1',
      '0x1',
      'abc',
      '',
      '%20',
      '1%20',
      '%001',
      'NaN',
      'null',
      '%D9%A1',
      '1,2',
      String(MAX_PAGE + 1),
      '9'.repeat(400),
    ].map((value) => [`my-esims?page=${value}`, `page: ${page}`]),
    ...['0', '101', '-5', '10.5', '1e2', '', 'ten', 'Infinity', '18446744073709551616'].map((value) => [
      `my-esims?limit=${value}`,
      `limit: ${limit}`,
    ]),
    ...['CREATED', 'active', 'ACTIVE,EXPIRED', '', 'SUSPENDED', '__proto__', 'toString', '1'].map((value) => [
      `my-esims?status=${value}`,
      'status: must be one of ACTIVE, EXPIRED, PENDING, FAILED, CANCELLED',
    ]),
    [
      `my-esims?search=${'s'.repeat(MAX_SEARCH_CHARACTERS + 1)}`,
      'search: must be at most 100 characters long',
    ],
    ...['%00', 'a%00b', '%0A', '%1B%5B2J', '%7F', '%C2%85'].map((value) => [
      `my-esims?search=${value}`,
      `search: ${clean}`,
    ]),
    ['my-esims?page=1&page=1', `page: ${once}`],
    ['my-esims?page=1&page=2', `page: ${once}`],
    ['my-esims?page[]=1', `page: ${once}`],
    ['my-esims?page%5B%5D=1', `page: ${once}`],
    ['my-esims?page[0]=1', `page: ${once}`],
    ['my-esims?page[$gt]=1', `page: ${once}`],
    ['my-esims?search=a&search=b', `search: ${once}`],
    ['my-esims?status=ACTIVE&status=ACTIVE', `status: ${once}`],
    ['my-esims?page=0&limit=101', `page: ${page}; limit: ${limit}`],
    [
      'my-esims?page=x&limit=x&status=x&search=%00',
      `page: ${page}; limit: ${limit}; status: must be one of ACTIVE, EXPIRED, PENDING, FAILED, CANCELLED; search: ${clean}`,
    ],
    ['my-esims?page=1&page=2&limit=0', `page: ${once}; limit: ${limit}`],
    ...['%', '%E0%A4%A', 'page=%zz', 'x=%C3%28', '%80', 'search=%ED%A0%80'].map((value) => [
      `my-esims?${value}`,
      'query: malformed percent-encoding',
    ]),
    [
      `my-esims?${Array.from({ length: MAX_QUERY_PARAMETERS + 1 }, (_, i) => `x${i}=1`).join('&')}`,
      'query: more than 50 parameters',
    ],
    ...['0', '3', '-1', '1.0', '', 'LC', '12', '1&type=2'].map((value) => [
      `regions?type=${value}`,
      value.includes('&') ? `type: ${once}` : 'type: must be 1 (countries only) or 2 (multi-country only)',
    ]),
    ...['x', 'esim-', '%00', `esim-${'g'.repeat(32)}`, `txn-${'0'.repeat(32)}`].map((value) => [
      `my-esims?after=${value}`,
      'after: must be the nextCursor of a page',
    ]),
    [`my-esims?page=2&after=esim-${'0'.repeat(32)}`, 'after: must not be given together with page'],
    ['packages?regionCode=NG&type=base', 'type: must be one of BASE, TOPUP'],
    ['packages?regionCode=NG&type=', 'type: must be one of BASE, TOPUP'],
    ['packages?regionCode=NG&regionType=XX', 'regionType: must be one of LC, RG, GL'],
    ['packages?regionCode=NG&regionCode=GH', `regionCode: ${once}`],
    [
      `packages?regionCode=${'R'.repeat(MAX_REGION_CODE_CHARACTERS + 1)}`,
      'regionCode: must be at most 64 characters long',
    ],
    ['packages?regionCode=%00', `regionCode: ${clean}`],
    ['packages?regionCode=N%0AG&regionType=x', `regionCode: ${clean}; regionType: must be one of LC, RG, GL`],
  ])('is refused: %s', async (target, details) => {
    const reply = await api.ask(`/api/esim/${target}`, { key: 'ngn' });
    expect(reply.json).toEqual(baseError('VALIDATION_ERROR', 'Invalid request', details));
    expect([reply.status, api.shop.calls]).toEqual([400, []]);
  });

  test.each([
    ['packages', 'regionCode is required'],
    ['packages?type=BAD', 'regionCode is required; type: must be one of BASE, TOPUP'],
    [
      'packages?regionCode=&regionType=XX&currency=x',
      'regionCode is required; regionType: must be one of LC, RG, GL; currency: must be a currency code of three capital letters',
    ],
  ])('%s is refused for the missing region and every other mistake', async (target, details) => {
    const reply = await api.ask(`/api/esim/${target}`, { key: 'ngn' });
    expect(reply.json).toMatchObject({
      success: false,
      message: 'regionCode is required',
      error: { code: 'MISSING_REGION_CODE', details },
    });
    const { fields } = (reply.json as { error: { fields: unknown[] } }).error;
    expect(fields[0]).toEqual({ field: 'regionCode', problem: 'is required' });
    expect(fields).toHaveLength(details.split('; ').length);
    expect([reply.status, api.shop.calls]).toEqual([400, []]);
  });

  test.each([
    ['packages/NG-5GB-30D?currency=usd', 'currency: must be a currency code of three capital letters'],
    ['packages/NG-5GB-30D?currency=', 'currency: must be a currency code of three capital letters'],
    ['packages/NG-5GB-30D?currency=USDT', 'currency: must be a currency code of three capital letters'],
    [
      'packages/NG-5GB-30D?type=X&currency=1',
      'type: must be one of BASE, TOPUP; currency: must be a currency code of three capital letters',
    ],
    [
      'packages?type=TOPUP&regionCode=NG&packageCode=P&currency=x',
      'currency: must be a currency code of three capital letters',
    ],
    [
      `packages?type=TOPUP&regionCode=NG&packageCode=${'P'.repeat(MAX_PACKAGE_CODE_CHARACTERS + 1)}`,
      'packageCode: must be at most 64 characters long',
    ],
    ['packages?type=TOPUP&regionCode=NG', 'regionCode and packageCode are required for TOPUP type'],
    [
      'packages?type=TOPUP&regionCode=NG&currency=x',
      'regionCode and packageCode are required for TOPUP type; currency: must be a currency code of three capital letters',
    ],
    [
      `packages?type=TOPUP&packageCode=${'P'.repeat(MAX_PACKAGE_CODE_CHARACTERS + 1)}`,
      'regionCode and packageCode are required for TOPUP type; packageCode: must be at most 64 characters long',
    ],
    ['packages?type=TOPUP&regionCode=NG&packageCode=P&packageCode=Q', 'packageCode: must be given once'],
    ['packages?type=TOPUP&type=BASE&regionCode=NG&packageCode=P', 'type: must be given once'],
  ])('is refused in the top-up shape with the same text in its message: %s', async (target, message) => {
    const reply = await api.ask(`/api/esim/${target}`, { key: 'ngn' });
    const { fields, ...error } = topUpError(400, 'VALIDATION_ERROR', message);
    expect(reply.json).toMatchObject({ ...error, fields: expect.arrayContaining(fields ?? []) as unknown });
    expect(api.shop.calls).toEqual([]);
  });

  test.each([
    'my-esims?page=1000000&limit=100&status=FAILED&search=8944',
    'my-esims?page=007',
    'my-esims?Page=0&LIMIT=x&color=red&color=blue&__proto__=1&constructor[prototype][x]=1',
    'my-esims?&&&',
    'my-esims?=',
    'my-esims?search=%F0%9F%87%B3%F0%9F%87%AC+caf%C3%A9',
    'regions?type=1&',
  ])('is accepted: %s', async (target) => {
    expect((await api.ask(`/api/esim/${target}`, { key: 'ngn' })).status).toBe(200);
  });
});

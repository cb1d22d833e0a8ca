// docs/ERRORS.md and docs/API.md match the code: codes, statuses, limits and routes; and the examples are run.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLAN_REQUESTS_PER_MINUTE } from '../../src/domain/account.ts';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { formatMinor } from '../../src/domain/money.ts';
import { DEFAULT_UNPAID_LIMITS } from '../../src/payments/rules.ts';
import {
  MAX_BATCH_ROWS,
  MAX_BEGINNING_BATCHES,
  MAX_SEND_AHEAD_MS,
  MAX_TEST_EMAILS_A_DAY,
} from '../../src/purchases/batches/rules.ts';
import { MAX_OPEN_QUOTES, QUOTE_LIFE_MS } from '../../src/purchases/quotes.ts';
import { MAX_ENDPOINTS, MAX_RECOVER_MS } from '../../src/webhooks/rules.ts';
import { DEFAULT_APP_SETTINGS } from '../../src/platform/http/app.ts';
import { shapeOf, STATUS_OF } from '../../src/platform/http/errors.ts';
import { MAX_CSV_ENTRIES } from '../../src/ledger/wallet-entries.ts';
import { MAX_COUNTED } from '../../src/purchases/list-transactions.ts';
import { MAX_COUNTED_BY_REGION } from '../../src/purchases/store/spending.ts';
import { MAX_SPENDING_DAYS } from '../../src/purchases/figures/spending.ts';
import * as limits from '../../src/platform/http/limits.ts';
import { createRouteTable } from '../../src/platform/composition/route-table.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';

const errors = readFileSync(new URL('../../docs/ERRORS.md', import.meta.url), 'utf8');
const apiDoc = readFileSync(new URL('../../docs/API.md', import.meta.url), 'utf8');

/** Cells of the table under a heading. */
function tableUnder(text: string, heading: string): string[][] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\|(?!\s*-)/.test(line));
  return rows.slice(1).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

describe('docs/ERRORS.md', () => {
  const rows = tableUnder(errors, 'Codes');

  test('lists exactly the existing codes, in their order, with their statuses', () => {
    expect(rows.map(([code, status]) => [code, status])).toEqual(
      ERROR_CODES.map((code) => [`\`${code}\``, String(STATUS_OF[code])]),
    );
  });

  test('explains for each its meaning and what to do', () => {
    for (const row of rows) {
      expect(row.length).toBe(4);
      expect(row[2]).toMatch(/^\S.+\.$/);
      expect(row[3]).toMatch(/^\S.+\.$/);
    }
  });

  test('names the general codes', () => {
    const section = errors.split('always come in the general shape:')[1]?.split('\n\n')[0] ?? '';
    const named = Array.from(section.matchAll(/`([A-Z_]+)`/g), (match) => match[1]);
    const general = ERROR_CODES.filter((code) => shapeOf(code, 'base') === 'general');
    expect(named.sort()).toEqual([...general].sort());
  });
});

describe('docs/API.md', () => {
  test('lists every limit with its number', () => {
    const expected: Record<string, number | string> = {
      'requests a minute, Standard plan': PLAN_REQUESTS_PER_MINUTE.STANDARD,
      'requests a minute, Premium plan': PLAN_REQUESTS_PER_MINUTE.PREMIUM,
      'requests a minute, Enterprise plan': 'agreed per account',
      'unpaid payments at a time, Standard plan': DEFAULT_UNPAID_LIMITS.STANDARD,
      'unpaid payments at a time, Premium plan': DEFAULT_UNPAID_LIMITS.PREMIUM,
      'unpaid payments at a time, Enterprise plan': DEFAULT_UNPAID_LIMITS.ENTERPRISE,
      'public requests without a key, a minute and address (IPv6: a /64)':
        DEFAULT_APP_SETTINGS.publicRequestsPerMinute,
      'failed authentications, a minute and address (IPv6: a /64)': DEFAULT_APP_SETTINGS.failedAuthPerMinute,
      'request body, bytes': limits.MAX_BODY_BYTES,
      'event of the payment gateway, bytes': limits.MAX_EVENT_BYTES,
      'nesting of a body, levels': limits.MAX_JSON_DEPTH,
      'fields and items in a body, all levels together': limits.MAX_JSON_MEMBERS,
      'request line and headers, bytes': limits.MAX_HEADER_BYTES,
      'parameters in a query': limits.MAX_QUERY_PARAMETERS,
      '`page`, at most': limits.MAX_PAGE,
      '`limit`, default': limits.DEFAULT_PAGE_LIMIT,
      '`limit` of `GET /api/events`, default': limits.DEFAULT_FEED_LIMIT,
      '`limit`, at most': limits.MAX_PAGE_LIMIT,
      '`search`, characters': limits.MAX_SEARCH_CHARACTERS,
      '`amount` of a funding, at least': formatMinor(limits.MIN_FUNDING_MINOR),
      '`amount` of a funding, at most': formatMinor(limits.MAX_FUNDING_MINOR),
      '`amount` of a low balance, at most': formatMinor(limits.MAX_LOW_BALANCE_MINOR),
      '`limit` of the list of changes, default': limits.DEFAULT_CHANGES_LIMIT,
      '`limit` of the list of changes, at most': limits.MAX_CHANGES_LIMIT,
      '`maxPrice`, at most': formatMinor(limits.MAX_PRICE_LIMIT_MINOR),
      'open quotes of an account, in each environment': MAX_OPEN_QUOTES,
      'life of a quote, minutes': QUOTE_LIFE_MS / 60_000,
      'webhook endpoints of an account, in each environment': MAX_ENDPOINTS,
      '`url` of a webhook endpoint, characters': limits.MAX_WEBHOOK_URL_CHARACTERS,
      'failed webhook messages sent again, days back': MAX_RECOVER_MS / 86_400_000,
      '`packageCode`, characters': limits.MAX_PACKAGE_CODE_CHARACTERS,
      '`regionCode`, characters': limits.MAX_REGION_CODE_CHARACTERS,
      'rows of a batch': MAX_BATCH_ROWS,
      'entries of the wallet in one CSV': MAX_CSV_ENTRIES,
      'days of the spending by day': MAX_SPENDING_DAYS,
      'newest purchases counted for `topDestinations` of the spending': MAX_COUNTED_BY_REGION,
      'transactions that are counted, and reached by page number': MAX_COUNTED,
      'body of a batch, bytes': limits.MAX_BATCH_BODY_BYTES,
      'fields and items in the body of a batch, all levels together': limits.MAX_BATCH_JSON_MEMBERS,
      'batches of an account with rows waiting to begin': MAX_BEGINNING_BATCHES,
      '`reference` of a row, characters': limits.MAX_REFERENCE_CHARACTERS,
      'e-mails to travellers of an account, a day, in the sandbox': MAX_TEST_EMAILS_A_DAY,
      '`sendAt` of a row, days ahead': MAX_SEND_AHEAD_MS / 86_400_000,
      '`Idempotency-Key`, characters': limits.MAX_IDEMPOTENCY_KEY_CHARACTERS,
      '`X-Request-Id`, characters': limits.MAX_REQUEST_ID_CHARACTERS,
      'time to send the headers, seconds': limits.HEADERS_TIMEOUT_MS / 1000,
      'time to send the whole request, seconds': limits.REQUEST_TIMEOUT_MS / 1000,
      'time without progress while you read an answer, seconds': limits.WRITE_TIMEOUT_MS / 1000,
      'idle connection kept open, seconds': limits.KEEP_ALIVE_TIMEOUT_MS / 1000,
      'requests on one connection ahead of their answers': limits.MAX_REQUESTS_IN_PROGRESS,
      'connections at a time, from one address (IPv6: a /64)': limits.MAX_CONNECTIONS_PER_ADDRESS,
    };
    expect(Object.fromEntries(tableUnder(apiDoc, 'Limits'))).toEqual(
      Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, String(value)])),
    );
  });

  test('names every API route, and no status that does not exist', () => {
    const routes = createRouteTable({ version: '1', brand: 'simway' });
    for (const route of routes.filter(({ path }) => !path.startsWith('/ops')))
      expect(apiDoc).toContain(route.path.replace('/{file}', ''));
    const named = tableUnder(apiDoc, 'Answers and errors').flatMap(([cell]) =>
      (cell ?? '').split(', ').map(Number),
    );
    const possible = [...new Set([200, 201, 304, ...Object.values(STATUS_OF)])];
    expect(named.sort()).toEqual(possible.sort());
  });
});

describe('the examples of docs/API.md', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
    await api.shop.setBalance(100_000_000n);
  });
  afterAll(() => api.close());

  const examples = Array.from(apiDoc.matchAll(/# (\d{3})\n(curl (?:.*\\\n)*.*)/g), ([, status, command]) => ({
    status: Number(status),
    command: (command ?? '').replaceAll('\\\n', ''),
  }));

  test('exist, and every curl line is one of them', () => {
    expect(examples.length).toBeGreaterThanOrEqual(7);
    expect(apiDoc.match(/^curl /gm)?.length).toBe(examples.length);
  });

  test.each(examples.map(({ status, command }) => [command, status] as const))(
    'are answered as shown: %s',
    async (command, status) => {
      const target = (/"\$URL([^"]*)"/.exec(command)?.[1] ?? '').replace('SIM-OK', 'NG-5GB-30D');
      const headers = Object.fromEntries(
        Array.from(command.matchAll(/-H "([^:]+): ([^"]+)"/g), ([, name = '', value = '']) => [
          name.toLowerCase(),
          value.replace('$KEY', keyOf('test', 'ngn')),
        ]),
      );
      // The only package on sale in this shop.
      const rawBody = /-d '([^']+)'/.exec(command)?.[1]?.replaceAll('SIM-OK', 'NG-5GB-30D');
      const reply = await api.ask(target, { headers, ...(rawBody === undefined ? {} : { rawBody }) });
      expect(reply.status).toBe(status);
    },
  );
});

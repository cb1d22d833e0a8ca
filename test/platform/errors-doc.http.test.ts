// docs/ERRORS.md and docs/API.md match the code: codes, statuses and routes; and the examples are run.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { shapeOf, STATUS_OF } from '../../src/platform/http/errors.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
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
  test('names every API route, and no status that does not exist', () => {
    const routes = createRouteTable({ version: '1', brand: 'simway' });
    for (const route of routes.filter(({ path }) => !path.startsWith('/ops')))
      expect(apiDoc).toContain(route.path.replace('/{file}', ''));
    const named = tableUnder(apiDoc, 'Answers and errors').flatMap(([cell]) =>
      (cell ?? '').split(', ').map(Number),
    );
    const possible = [...new Set([200, 201, 202, 304, ...Object.values(STATUS_OF)])];
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
      const rawBody = /-d '([^']+)'/
        .exec(command.replace("'$CURRENCY'", 'NGN'))?.[1]
        ?.replaceAll('SIM-OK', 'NG-5GB-30D');
      const reply = await api.ask(target, { headers, ...(rawBody === undefined ? {} : { rawBody }) });
      expect(reply.status).toBe(status);
    },
  );
});

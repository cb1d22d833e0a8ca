// docs/WEBHOOKS.md and the reference match the code in events, schedule, routes and commands.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MAX_ENDPOINTS, ATTEMPT_WAITS_MS } from '../../src/webhooks/rules.ts';
import { PURCHASE_EVENT_STATUSES } from '../../src/webhooks/event-rules.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import { WEBHOOK_EVENTS, eventBodySchema } from '../../src/webhooks/events.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { createCli } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';

const page = readFileSync(new URL('../../docs/WEBHOOKS.md', import.meta.url), 'utf8');
const AT = new Date('2026-01-31T09:30:00.000Z');

/** Cells of the first table under a heading. */
function tableUnder(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = /(?:^\|.*\n)+/m.exec(`${section}\n`)?.[0] ?? '';
  const rows = table.split('\n').filter((line) => /^\|(?!\s*-)/.test(line));
  return rows.slice(1).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

describe('events', () => {
  it.each(WEBHOOK_EVENTS)('have in the reference exactly the fields that are sent: %s', (event) => {
    for (const status of PURCHASE_EVENT_STATUSES) {
      const body: unknown = JSON.parse(sampleBody(event, AT, status));
      expect(eventBodySchema(event).strict().parse(body)).toEqual(body);
    }
  });

  it('have an example on the page with the real shape', () => {
    const example: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    expect(eventBodySchema('esim.purchased').strict().parse(example)).toEqual(example);
  });
});

describe('attempts', () => {
  it('follow the documented schedule, with the time from the first attempt', () => {
    const UNITS = { h: 3_600_000, min: 60_000, s: 1_000 } as const;
    const ms = (text = ''): number =>
      Array.from(
        text.matchAll(/(\d+) (h|min|s)\b/g),
        ([, count, unit]) => Number(count) * UNITS[unit as 'h'],
      ).reduce((sum, part) => sum + part, 0);
    const rows = tableUnder('Retry schedule');
    expect(rows.map(([attempt]) => Number(attempt))).toEqual(
      ATTEMPT_WAITS_MS.map((_wait, index) => index + 1),
    );
    expect(rows.map(([, wait]) => ms(wait))).toEqual(ATTEMPT_WAITS_MS);
    let sum = 0;
    expect(rows.map(([, , total]) => ms(total))).toEqual(ATTEMPT_WAITS_MS.map((wait) => (sum += wait)));
  });
});

describe('the documented', () => {
  it('routes are all those about webhooks and the low balance', () => {
    const routes = createRouteTable({ version: '1', brand: 'simway' })
      .filter(({ path }) => /^\/api\/(webhooks|events|wallet\/low-balance)/.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const named = tableUnder('Add an endpoint').flatMap(([cell = '']) => {
      const path = /[/…][\w/{}-]+/.exec(cell)?.[0].replace('…', '/api/webhooks') ?? '';
      return (cell.match(/\b[A-Z]{3,}\b/g) ?? []).map((method) => `${method} ${path}`);
    });
    expect(named.toSorted()).toEqual(routes.toSorted());
    expect(page).toContain(`at most ${MAX_ENDPOINTS}`);
  });

  it('commands are all there are, with their flags', async () => {
    const wordsOf = (text: string): string[] =>
      [...new Set(text.match(/--[a-z-]+|(?<=webhooks (?:-- )?)[a-z]+/g) ?? [])].toSorted();
    const section = page.split('## On your own machine')[1]?.split('\n## ')[0] ?? '';
    const commands = Array.from(
      section.matchAll(/npm run (webhooks -- [^`\n]+)|`(--[a-z-]+)/g),
      ([all]) => all,
    );
    const program = await createProgram(createCli(), 'webhooks');
    const group = program.commands.find((command) => command.name() === 'webhooks');
    const known = group!.commands.flatMap((command) => [
      command.name(),
      ...command.options.map(({ long }) => long).filter((flag) => flag !== '--limit'),
    ]);
    expect(wordsOf(commands.join('\n').replaceAll(' -- ', ' '))).toEqual([...new Set(known)].toSorted());
  });
});

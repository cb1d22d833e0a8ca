// Facts that must be written in two places, since one of them cannot read the other: both must be equal.
import { describe, expect, it } from 'vitest';
import { accountsMigrations, worldMigrations } from '../../migrations/registry.ts';
import {
  ATTENTION_REASONS,
  canChangeStatus,
  ESIM_STATUSES,
  PURCHASE_STATUSES,
  purchaseStatusesBefore,
} from '../../src/domain/states.ts';
import { FAILURE_REASONS, ORDER_REASONS, type FailureReason } from '../../src/domain/refusals.ts';
import { projectFiles, textOf } from './source-files.ts';

describe('states in docs/ARCHITECTURE.md', () => {
  it('are those of the domain', () => {
    const esims = ESIM_STATUSES.flatMap((from) =>
      ESIM_STATUSES.filter((to) => to !== from && canChangeStatus(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(documentedActions('eSIM `esimStatus`')).toEqual(esims.toSorted());
    const purchases = PURCHASE_STATUSES.flatMap((to) =>
      purchaseStatusesBefore(to).map((from) => `${from} → ${to}`),
    );
    expect(documentedActions('Purchase `status`')).toEqual(purchases.toSorted());
  });
});

/** `from → to` of the table that follows the paragraph beginning with these words. */
function documentedActions(opening: string): string[] {
  const text = textOf('docs/ARCHITECTURE.md');
  const table = /^\|[\s\S]*?\n\n/m.exec(text.slice(text.indexOf(`\n${opening}`)))?.[0] ?? '';
  const states = (cell: string): string[] =>
    Array.from(cell.matchAll(/`([A-Z]+)`/g), ([, state = '']) => state);
  return table
    .split('\n')
    .flatMap((row) => {
      const [, from = '', to = ''] = row.split('|');
      return states(from).flatMap((one) => states(to).map((other) => `${one} → ${other}`));
    })
    .toSorted();
}

describe('reasons of a failed purchase', () => {
  it('are all in docs/ERRORS.md', () => {
    const section =
      textOf('docs/ERRORS.md').split('## Why a purchase or funding failed')[1]?.split('\n## ')[0] ?? '';
    const documented = Array.from(section.matchAll(/^\| `([A-Z_]+)`/gm), ([, reason]) => reason);
    const shown = Object.keys(FAILURE_REASONS).filter(
      (reason) => !ORDER_REASONS.has(reason as FailureReason),
    );
    expect(documented.toSorted()).toEqual(shown.toSorted());
  });
});

it('docs/OPERATIONS.md lists every reason of NeedsAttention once', () => {
  const reasons = new Set<string>(ATTENTION_REASONS);
  const cells = Array.from(
    textOf('docs/OPERATIONS.md').matchAll(/^\| (`[A-Z_]+`[^|]*) \|/gm),
    ([, cell = '']) => cell,
  );
  const listed = cells.flatMap((cell) => Array.from(cell.matchAll(/`([A-Z_]+)`/g), ([, code = '']) => code));
  expect(listed.filter((code) => reasons.has(code)).toSorted()).toEqual([...reasons].toSorted());
});

describe('migrations', () => {
  // Files in folders of these are parts of a migration.
  const files = projectFiles().filter((file) => /^migrations\/\w+\/[^/]+\.ts$/.test(file));

  it('are all in the registry, under their own dates, in order', () => {
    for (const [schema, registered] of [
      ['accounts', accountsMigrations],
      ['world', worldMigrations],
    ] as const) {
      const names = Object.keys(registered);
      expect(names).toEqual(names.toSorted());
      const asFiles = names.map(
        (name) => `migrations/${schema}/${name.replace(/^(\d{4}-\d\d-\d\d)-\d+-/, '$1-')}.ts`,
      );
      expect(asFiles.toSorted()).toEqual(
        files.filter((file) => file.startsWith(`migrations/${schema}/`)).toSorted(),
      );
    }
  });
});

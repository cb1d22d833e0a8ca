// The rule `lock-once`, through oxlint as `npm run check` runs it: which statements it refuses.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeTestFolder } from '../support/world/test-folder.ts';

const LOCK = 'for update skip locked';
/** The subquery may run more than once. */
const REFUSED = [
  `update t set x = 1 where id in (select id from t limit 1 ${LOCK})`,
  `update t set x = 1 where id IN ( SELECT id FROM t LIMIT 1 FOR UPDATE)`,
  'update t set x = 1 where id not in (select id from t for no key update)',
  `update t set x = 1 where id in ((select id from t limit 1 ${LOCK}))`,
  'update t set x = 1 where id in (select id from t limit 1 for share)',
  `update t set x = 1 where id = any (select id from t limit 1 ${LOCK})`,
  `update t set x = 1 from (select id from t limit 1 ${LOCK}) due where t.id = due.id`,
  `delete from t using (select id from t limit 1 ${LOCK}) due where t.id = due.id`,
  `update t set x = 1 where exists (select from (select id from t limit 1 ${LOCK}) due where due.id = t.id)`,
];
const RUNS_ONCE = [
  `select id from t where id in (select id from other limit 1) ${LOCK}`,
  `update t set x = 1 where id = any(array(select id from t limit 1 ${LOCK}))`,
  `update t set x = 1 where (a, b) = (select a, b from t limit 1 ${LOCK})`,
  `with due as (select id from t limit 1 ${LOCK}) update t set x = 1 from due where t.id = due.id`,
  `with due as materialized (select id from t limit 1 ${LOCK}) delete from t using due where t.id = due.id`,
];

it('a statement is refused whose locking subquery may run more than once, and none that runs it once', async () => {
  const statements = [...REFUSED, ...RUNS_ONCE];
  const file = join(await makeTestFolder(), 'statements.ts');
  writeFileSync(file, statements.map((text) => `sql\`${text}\`;\n`).join(''));
  const lint = ['-c', '.oxlintrc.json', '--format', 'unix', file];
  const { stdout } = spawnSync('node_modules/.bin/oxlint', lint, { encoding: 'utf8' });
  const lines = Array.from(stdout.matchAll(/:(\d+):\d+: .*\(lock-once\)/g), ([, line]) => Number(line));
  expect([...new Set(lines)].map((line) => statements[line - 1])).toEqual(REFUSED);
});

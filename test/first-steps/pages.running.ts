// Every command in a shell block of README.md, docs/ and the agent skill, unchanged, on the `npm start` of
// this checkout, with each key that it prints. A page is one script: what an earlier command made exists for
// a later one, and the first failure ends the page. A curl must answer 2xx, or the status that the comment
// before it names.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  readRunningFile,
  SANDBOX_ACCOUNTS,
  USUAL_ACCOUNT,
  type RunningInfo,
} from '../../src/dev/running-file.ts';
import { CHECKOUT } from '../support/world/checkout.ts';

const PAGES = [
  'README.md',
  ...globSync(['docs/*.md', 'docs/guides/*.md'], { cwd: CHECKOUT }).toSorted(),
  '.agents/skills/simway/SKILL.md',
];
const STARTED_MS = Date.now();
/** The end of a page's output, when it fails. */
const TAIL_CHARACTERS = 2_000;
/** Ends a command that hangs; the longest page takes 30 s. */
const PAGE_SECONDS = 300;
/** Output of the example endpoint of the pages. */
const EXAMPLE_HOOK = 'http://127.0.0.1:4000/hooks';

/** The commands that cannot run here, with the reason. */
const NOT_HERE: readonly { readonly command: RegExp; readonly because: string }[] = [
  {
    command: /^npm ci && npm (start|test)$/,
    because: '.ci/run runs these two, and what they start is what runs here',
  },
  { command: /^npm run bench\b/, because: 'minutes of measuring, on servers of its own' },
  {
    command: /^(docker compose|sh ops\/(secrets|digests)\.sh) ?/,
    because: 'another installation, in containers',
  },
  { command: /^(pg_|psql|createdb)/, because: 'names the host of a production database' },
  {
    command: /^npm run (simway -- (migrate|worker|api)$|migrate\b)/,
    because: 'processes of an installation with settings of its own',
  },
  { command: /^curl "\$URL\/ops\//, because: 'wants the password that only the command before it has shown' },
  { command: /SIM-NEVER-ALLOCATE/, because: 'journeys.running.ts runs it, and repairs what it leaves' },
  { command: /close-difference/, because: 'wants a difference; the sandbox has none' },
];

/** Programs that run until they are stopped. */
const STAYS = /^(npm run webhooks -- listen|node -e|node_modules\/\.bin\/node packages\/simulators\/)/;

const PRELUDE = String.raw`
set -euo pipefail
unset DATABASE_URL TEMPORAL_ADDRESS SIMWAY_URL
groups=''
trap 'for group in $groups; do kill -TERM -- "-$group" 2>/dev/null || true; done; wait' EXIT
call() {
  local want=$1 got; shift
  got=$(command curl -sS --max-time 40 -o "$WORK/body" -w '%{http_code}' "$@")
  case $got in $want) cat "$WORK/body"; echo ;; *) echo "$got instead of $want: $(cat "$WORK/body")" >&2; exit 1 ;; esac
}
# Exits with 1 while a difference is open. Only the one that a person has to agree to may be: what was paid in before the first run.
compare() {
  "$@" >"$WORK/compared" 2>&1 || grep -qx 'open: 1 supplier-balance-differs' "$WORK/compared" || { cat "$WORK/compared" >&2; exit 1; }
  cat "$WORK/compared"
}
stay() {
  : >"$WORK/stays"
  setsid "$@" >"$WORK/stays" 2>&1 &
  groups="$groups $!"
  for _ in $(seq 300); do
    grep -qE '^listening|"ready":true' "$WORK/stays" && return 0
    sleep 0.1
  done
  cat "$WORK/stays" >&2
  exit 1
}
`;

/** The blocks of code of a page that have this language. */
const blocksOf = (page: string, language: string): string[] =>
  Array.from(
    readFileSync(join(CHECKOUT, page), 'utf8').matchAll(/^```(\S*)\n(.*?)^```/gms),
    ([, named, block]) => (new RegExp(`^(?:${language})$`).test(named ?? '') ? [block ?? ''] : []),
  ).flat();

/**
 * The commands of a page's shell blocks, a line each, with the status that the comment before a curl names.
 */
function commandsOf(page: string): { readonly command: string; readonly status: string }[] {
  return blocksOf(page, 'sh|bash').flatMap((block) => {
    let status = '2??';
    return block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap((line) => {
        const command = line.replace(/\s+#[^'"]*(?:"[^"]*")?[^'"]*$/, '').trim();
        if (command === '' || command.startsWith('#')) {
          status = /^# (\d{3})$/.exec(command)?.[1] ?? status;
          return [];
        }
        const one = { command, status };
        status = '2??';
        return [one];
      });
  });
}

let running: RunningInfo;
let work: string;
beforeAll(async () => {
  const found = await readRunningFile(join(CHECKOUT, '.data'));
  if (found === null) throw new Error('Nothing is running in this checkout: start it with npm start');
  running = found;
  work = mkdtempSync(join(tmpdir(), 'simway-pages-'));
});
afterAll(async () => {
  rmSync(work, { recursive: true, force: true });
  rmSync(join(CHECKOUT, 'november.csv'), { force: true });
  await forgetExampleHooks();
});

/**
 * The parts that a page leaves to the reader, filled in: keys, addresses, and values that must be new at
 * every run.
 */
function filledIn(command: string, key: string, folder: string): string {
  return (
    command
      .replaceAll('<your test key>', key)
      .replaceAll('http://127.0.0.1:3000/api', `${running.apiUrl}/api`)
      .replaceAll('/tmp/simway-', `${folder}/`)
      .replaceAll(/\b(ada|ops)@/g, `$1-${Date.now()}@`)
      // Named by two commands.
      .replaceAll('bayo@', `bayo-${STARTED_MS}@`)
  );
}

function scriptOf(page: string, key: string): string {
  // What an earlier run left must not answer for this one.
  const folder = mkdtempSync(join(work, 'page-'));
  const lines = commandsOf(page)
    .filter(({ command }) => !NOT_HERE.some((one) => one.command.test(command)))
    .map(({ command, status }) => {
      const filled = filledIn(command, key, folder);
      if (filled.includes('-- reconcile')) return `compare ${filled}`;
      if (STAYS.test(command)) return `stay ${filled}`;
      return filled.startsWith('curl ') ? `call '${status}' ${filled.slice('curl '.length)}` : filled;
    });
  const given = { URL: running.apiUrl, KEY: key, WORK: folder };
  const variables = Object.entries(given).map(([name, value]) => `export ${name}=${quoted(value)}`);
  return [
    PRELUDE,
    ...variables,
    ...lines.flatMap((line) => [`printf '%s\\n' ${quoted(`> ${line}`)} >&2`, line]),
  ].join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

describe('every command of', () => {
  const withCommands = PAGES.filter((page) => commandsOf(page).length > 0);

  it('these pages is read, and every exception is needed', () => {
    expect(withCommands.length).toBeGreaterThanOrEqual(8);
    const all = withCommands.flatMap(commandsOf).map(({ command }) => command);
    expect(all.length).toBeGreaterThan(50);
    expect(NOT_HERE.filter((one) => !all.some((command) => one.command.test(command)))).toEqual([]);
  });

  /** Those that use a key, once with each. */
  const withKeys = withCommands.flatMap((page) => {
    const usesKey = commandsOf(page).some(({ command }) => /\$KEY|<your test key>/.test(command));
    return (usesKey ? SANDBOX_ACCOUNTS : [USUAL_ACCOUNT]).map((account) => [page, account] as const);
  });

  it.each(withKeys)(
    '%s, with the key in %s',
    async (page, account) => {
      const script = scriptOf(page, running.keys[account]);
      const child = spawn('timeout', [String(PAGE_SECONDS), 'bash', '-c', script], {
        cwd: CHECKOUT,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code, printed.slice(-TAIL_CHARACTERS)).toBe(0);
    },
    (PAGE_SECONDS + 10) * 1_000,
  );
});

it('every statement of SQL on the pages runs', async () => {
  const statements = PAGES.flatMap((page) => blocksOf(page, 'sql')).flatMap((block) => block.split(/;\n/));
  const asked = statements.filter((statement) => statement.trim() !== '');
  expect(asked.length).toBeGreaterThan(1);
  const database = new Client({ connectionString: running.settings['DATABASE_URL'] });
  await database.connect();
  try {
    for (const statement of asked) await database.query(statement);
  } finally {
    await database.end();
  }
});

/** Who runs the blocks of each language. */
const RUN_BY: Readonly<Record<string, string>> = {
  sh: 'the commands above',
  sql: 'the statements above',
  typescript: 'test/examples/receivers.test.ts, runtimes.running.ts',
  go: 'test/examples/receivers.test.ts',
  python: 'test/examples/receivers.test.ts',
  json: 'test/repository/doc-tables.test.ts, test/webhooks/webhooks-doc.http.test.ts',
  yaml: 'parsed here',
  text: 'nobody: a picture of folders, or rows of a file',
  mermaid: 'nobody: a drawing',
};

it('every block of the pages has a language, and a test that runs it', () => {
  const languages = [...PAGES, 'packages/sdk/README.md'].flatMap((page) =>
    Array.from(
      readFileSync(join(CHECKOUT, page), 'utf8').matchAll(/^```([^\n]*)\n.*?^```/gms),
      ([, language]) => language ?? '',
    ),
  );
  expect(new Set(languages)).toEqual(new Set(Object.keys(RUN_BY)));
  for (const block of PAGES.flatMap((page) => blocksOf(page, 'yaml')))
    expect(parse(block)).toBeTypeOf('object');
  for (const block of PAGES.flatMap((page) => blocksOf(page, 'json')))
    expect(JSON.parse(block)).toBeTypeOf('object');
});

async function forgetExampleHooks(): Promise<void> {
  const endpoints = `${running.apiUrl}/api/webhooks/endpoints`;
  for (const key of Object.values(running.keys)) {
    const headers = { 'X-API-Key': key };
    const answer = await fetch(`${endpoints}?limit=100`, { headers });
    const { data } = (await answer.json()) as { data: { items: { id: string; url: string }[] } };
    for (const { id, url } of data.items)
      if (url === EXAMPLE_HOOK) await fetch(`${endpoints}/${id}`, { method: 'DELETE', headers });
  }
}

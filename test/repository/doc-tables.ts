// The tables of the documents that are written from the code, and their examples (doc-examples.ts). `npm run
// record:docs` writes them, a test compares them.
import { MAX_JOB_ROWS } from '../../src/jobs/rules.ts';
import { format, resolveConfig } from 'prettier';
import {
  describeMemberPermission,
  MEMBER_PERMISSIONS,
  MEMBER_ROLES,
  memberRolesWith,
} from '../../src/domain/member-roles.ts';
import {
  ACTION_TABLE,
  actionSpec,
  OPERATOR_ACTIONS,
  rolesFor,
} from '../../src/accounts/operators/action-table.ts';
import { describePermission, PERMISSIONS, ROLES, rolesWith } from '../../src/domain/operator-roles.ts';
import {
  MAX_INSTALLATION_MAILS_A_DAY,
  MAX_STRANGER_MAILS_A_DAY,
} from '../../src/accounts/store/mail-turns.ts';
import { PLANS, termsOfPlan } from '../../src/domain/account.ts';
import { formatMinor } from '../../src/domain/money.ts';
import { LANGUAGES, TEXTS } from '../../src/esims/install-texts/languages.ts';
import { MAX_TRAVELLER_AGREEMENTS_A_DAY } from '../../src/esims/mandates/rules.ts';
import { MAX_CSV_ENTRIES, MAX_CSV_METADATA_CHARACTERS } from '../../src/ledger/wallet-entries.ts';
import { DEFAULT_UNPAID_LIMITS } from '../../src/payments/rules.ts';
import examples from '../../src/app/routes/examples.json' with { type: 'json' };
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { DEFAULT_APP_SETTINGS } from '../../src/app/http/app.ts';
import * as limits from '../../src/platform/http/limits.ts';
import {
  MAX_BEGINNING_BATCHES,
  MAX_SEND_AHEAD_MS,
  MAX_EMAILS_A_DAY,
} from '../../src/purchases/batches/rules.ts';
import { MAX_SPENDING_DAYS } from '../../src/purchases/figures/statistics.ts';
import { MAX_COUNTED } from '../../src/purchases/transactions.ts';
import { MAX_OPEN_QUOTES, QUOTE_LIFE_MS } from '../../src/purchases/terms.ts';
import { MAX_COUNTED_BY_REGION } from '../../src/purchases/store/statistics.ts';
import { DIFFERENCE_WORDS } from '../../src/reconciliation/difference-words.ts';
import { EVENTS, fieldsOf, WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { MAX_ENDPOINTS, MAX_RECOVER_MS } from '../../src/webhooks/rules.ts';
import { EXAMPLE, exampleOf } from './doc-examples.ts';
import { projectFiles, textOf } from './source-files.ts';

const code = (word: string): string => `\`${word}\``;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Which of `roles` each row is granted to: the last cell of the row. */
const grants = (
  head: readonly string[],
  roles: readonly string[],
  rows: readonly (readonly [...cells: string[], granted: readonly string[]])[],
): string =>
  table(
    [...head, ...roles],
    rows.map((row) => [
      ...(row.slice(0, -1) as string[]),
      ...roles.map((role) => (row.at(-1)?.includes(role) ? 'yes' : '')),
    ]),
  );

export const TABLES: Readonly<Record<string, () => string>> = {
  events: () =>
    table(
      ['event', 'when', '`data`'],
      WEBHOOK_EVENTS.map((event) => [
        code(event),
        `${EVENTS[event].summary}. ${EVENTS[event].when}`,
        fieldsOf(event).map(code).join(', '),
      ]),
    ),
  differences: () =>
    table(
      ['kind', 'title', 'meaning', 'what to do'],
      Object.entries(DIFFERENCE_WORDS).map(([kind, { title, meaning, next }]) => [
        ...[code(kind), title, meaning, next],
      ]),
    ),
  'success-shapes': () => table(['success answers', 'body', 'of'], successShapes()),
  'member-permissions': () =>
    grants(
      ['permission', 'what it allows'],
      MEMBER_ROLES,
      MEMBER_PERMISSIONS.map((one) => [code(one), describeMemberPermission(one), memberRolesWith(one)]),
    ),
  'operator-permissions': () =>
    grants(
      ['may'],
      ROLES,
      // The next table has the actions.
      PERMISSIONS.filter((one) => one !== 'action').map((one) => [describePermission(one), rolesWith(one)]),
    ),
  'roles-of-actions': () =>
    grants(
      ['action'],
      ROLES,
      OPERATOR_ACTIONS.map((action) => [code(action), rolesFor(action)]),
    ),
  'operator-actions': () =>
    table(
      ['action', 'does', 'needs'],
      OPERATOR_ACTIONS.map((action) => [
        code(action),
        ACTION_TABLE[action].details,
        actionSpec(action).needs,
      ]),
    ),
  languages: () =>
    table(
      ['`?lang=`', 'language'],
      LANGUAGES.map((language) => [code(language), TEXTS[language].name]),
    ),
  limits: () => table(['limit', 'value'], LIMITS),
};

const SHAPES = {
  'a bare list': '`[…]`',
  'named fields': '`{…}`',
  'in `data`': '`{"success": true, "data": {…}}`',
  'a page in `data`': '`{"success": true, "data": {"items": […], …}}`',
  'a page of eSIMs': '`{"esims": […], "total", "page", "limit", "totalPages"}`',
};

function shapeOf(answer: unknown): keyof typeof SHAPES {
  if (Array.isArray(answer)) return 'a bare list';
  const { data, esims } = answer as { readonly data?: unknown; readonly esims?: unknown };
  if (Array.isArray(esims)) return 'a page of eSIMs';
  if (typeof data !== 'object' || data === null) return 'named fields';
  return 'items' in data ? 'a page in `data`' : 'in `data`';
}

/** Read from the recorded answers of the reference. */
function successShapes(): (readonly string[])[] {
  const routes = createRouteTable({ version: '', brand: 'simway' }).filter(({ path }) =>
    path.startsWith('/api'),
  );
  const found = routes.flatMap(({ method, path, docs }) => {
    const recorded = Object.entries(examples as Record<string, Record<string, Record<string, unknown>>>);
    const answers = recorded.find(([id]) => id === docs?.operationId)?.[1] ?? {};
    const bodies = Object.entries(answers).filter(([status]) => status.startsWith('2'));
    const first = bodies.flatMap(([, each]) => Object.values(each)).find((body) => typeof body === 'object');
    return first == null ? [] : [{ shape: shapeOf(first), route: code(`${method} ${path}`) }];
  });
  return Object.entries(SHAPES).map(([shape, body]) => {
    const mine = found.filter((one) => one.shape === shape).map(({ route }) => route);
    return [shape, body, mine.join(', ')];
  });
}

const planName = (plan: string): string => plan.charAt(0) + plan.slice(1).toLowerCase();

const LIMITS: readonly (readonly [string, string | number])[] = [
  ...PLANS.map(
    (plan) =>
      [
        `requests a minute, ${planName(plan)} plan`,
        termsOfPlan(plan).requestsPerMinute ?? 'agreed per account',
      ] as const,
  ),
  ...PLANS.map(
    (plan) => [`unpaid payments at a time, ${planName(plan)} plan`, DEFAULT_UNPAID_LIMITS[plan]] as const,
  ),
  [
    'public requests without a key, a minute and address (IPv6: a /64)',
    DEFAULT_APP_SETTINGS.publicRequestsPerMinute,
  ],
  ['failed authentications, a minute and address (IPv6: a /64)', DEFAULT_APP_SETTINGS.failedAuthPerMinute],
  [
    'purchases of an account processed at once, in each API process, default; half while another account buys',
    limits.DEFAULT_PURCHASES_AT_ONCE,
  ],
  [
    'time after which a purchase no longer blocks the next one, milliseconds; half while another account buys',
    limits.LONG_PURCHASE_MS,
  ],
  ['purchases of an account that may wait for that, in each API process', limits.MAX_WAITING_PURCHASES],
  ['time that they may wait, seconds', limits.PURCHASE_TURN_WITHIN_MS / 1000],
  ['request body, bytes', limits.MAX_BODY_BYTES],
  ['event of the payment gateway, bytes', limits.MAX_EVENT_BYTES],
  ['nesting of a body, levels', limits.MAX_JSON_DEPTH],
  ['fields and items in a body, all levels together', limits.MAX_JSON_MEMBERS],
  ['request line and headers, bytes', limits.MAX_HEADER_BYTES],
  ['parameters in a query', limits.MAX_QUERY_PARAMETERS],
  ['`page`, at most', limits.MAX_PAGE],
  ['`limit`, default', limits.DEFAULT_PAGE_LIMIT],
  ['`limit` of lists without `page`, such as `GET /api/events`, default', limits.DEFAULT_FEED_LIMIT],
  ['`limit`, at most', limits.MAX_PAGE_LIMIT],
  ['`search`, characters', limits.MAX_SEARCH_CHARACTERS],
  ['`amount` of a funding, at least', formatMinor(limits.MIN_FUNDING_MINOR)],
  ['`amount` of a funding, at most', formatMinor(limits.MAX_FUNDING_MINOR)],
  ['`amount` of a low balance, at most', formatMinor(limits.MAX_LOW_BALANCE_MINOR)],
  ['`limit` of the list of changes, default', limits.DEFAULT_CHANGES_LIMIT],
  ['`limit` of the list of changes, at most', limits.MAX_CHANGES_LIMIT],
  ['`maxPrice`, at most', formatMinor(limits.MAX_PRICE_LIMIT_MINOR)],
  ['open quotes of an account, in each environment', MAX_OPEN_QUOTES],
  ['life of a quote, minutes', QUOTE_LIFE_MS / 60_000],
  ['webhook endpoints of an account, in each environment', MAX_ENDPOINTS],
  ['`url` of a webhook endpoint, characters', limits.MAX_URL_CHARACTERS],
  ['failed webhook messages sent again, days back', MAX_RECOVER_MS / 86_400_000],
  ['`packageCode`, characters', limits.MAX_PACKAGE_CODE_CHARACTERS],
  ['`regionCode`, characters', limits.MAX_REGION_CODE_CHARACTERS],
  ['rows of a batch', MAX_JOB_ROWS],
  ['entries of the wallet in one CSV', MAX_CSV_ENTRIES],
  ['days of the spending by day', MAX_SPENDING_DAYS],
  ['newest purchases counted for `topDestinations` of the spending', MAX_COUNTED_BY_REGION],
  ['transactions that are counted, and reached by page number', MAX_COUNTED],
  ['body of a batch, bytes', limits.MAX_BATCH_BODY_BYTES],
  ['fields and items in the body of a batch, all levels together', limits.MAX_BATCH_JSON_MEMBERS],
  ['batches of an account with rows waiting to begin', MAX_BEGINNING_BATCHES],
  ['`reference`, characters', limits.MAX_REFERENCE_CHARACTERS],
  ['keys of `metadata`', limits.MAX_METADATA_KEYS],
  ['key of `metadata`, characters', limits.MAX_METADATA_KEY_CHARACTERS],
  ['value of `metadata`, characters', limits.MAX_METADATA_VALUE_CHARACTERS],
  ['metadata in a cell of a CSV, characters', MAX_CSV_METADATA_CHARACTERS],
  ['return hosts of an account, in each environment', limits.MAX_RETURN_HOSTS],
  ['return host, characters', limits.MAX_RETURN_HOST_CHARACTERS],
  ['e-mails to travellers of an account, a day, in the sandbox', MAX_EMAILS_A_DAY.test],
  ['e-mails to travellers of an account, a day, in live', MAX_EMAILS_A_DAY.live],
  ['e-mails to one traveller or invited colleague, a day', MAX_STRANGER_MAILS_A_DAY],
  ['e-mails to travellers and invited colleagues of all accounts, a day', MAX_INSTALLATION_MAILS_A_DAY],
  ['`sendAt` of a row, days ahead', MAX_SEND_AHEAD_MS / 86_400_000],
  ['agreements of travellers to automatic top-ups of one eSIM, a day', MAX_TRAVELLER_AGREEMENTS_A_DAY],
  ['`Idempotency-Key`, characters', limits.MAX_IDEMPOTENCY_KEY_CHARACTERS],
  ['`X-Request-Id`, characters', limits.MAX_REQUEST_ID_CHARACTERS],
  ['time to send the headers, seconds', limits.HEADERS_TIMEOUT_MS / 1000],
  ['time to send the whole request, seconds', limits.REQUEST_TIMEOUT_MS / 1000],
  ['time without progress while you read an answer, seconds', limits.WRITE_TIMEOUT_MS / 1000],
  ['idle connection kept open, seconds', limits.KEEP_ALIVE_TIMEOUT_MS / 1000],
  ['requests on one connection ahead of their answers', limits.MAX_REQUESTS_IN_PROGRESS],
  ['connections at a time, from one address (IPv6: a /64)', limits.MAX_CONNECTIONS_PER_ADDRESS],
];

const BLOCK =
  /(<!-- table (?<name>[\w-]+), written by npm run record:docs -->\n)(?:(?!<!--)[^])*(<!-- end of the table -->)/g;

/** The documents with such tables or examples. */
export const DOCUMENTS = projectFiles().filter(
  (file) => file.endsWith('.md') && [BLOCK, EXAMPLE].some((pattern) => textOf(file).match(pattern)),
);

export const tablesIn = (file: string): string[] =>
  Array.from(textOf(file).matchAll(BLOCK), ({ groups }) => groups?.['name'] ?? '');

/** The document as it should be. */
export async function written(file: string): Promise<string> {
  const text = textOf(file)
    .replaceAll(BLOCK, (_, start: string, name: string, end: string) => {
      const lines = TABLES[name];
      if (!lines) throw new Error(`${file}: there is no table ${name}`);
      return `${start}\n${lines()}\n\n${end}`;
    })
    .replaceAll(EXAMPLE, (_, start: string, operation: string, of: string, name: string, end: string) => {
      return `${start}\n${exampleOf(operation, of, name)}\n\n${end}`;
    });
  return format(text, { ...(await resolveConfig(file)), parser: 'markdown' });
}

// The import law as data: what each room may import, and why where that goes beyond docs/ARCHITECTURE.md's first table.
// A word in `may` is a room, `room (types)`, a package, `node:*` or one builtin, or `*` for anything. What is not named is forbidden.
// Must hold no exception without its reason.

export interface RoomLaw {
  readonly room: string;
  /** Files, or folders ending in `/`, from the checkout's root; the longest match decides where a file belongs. */
  readonly paths: readonly string[];
  readonly may: readonly string[];
  /** What the room may import on top, each with the reason. */
  readonly extended?: readonly { readonly may: readonly string[]; readonly why: string }[];
  /** Rooms that may import this one; absent: everybody whose own `may` names it. */
  readonly importedBy?: readonly string[];
  /** Why the room exists, for rooms that sit beside or inside another one. */
  readonly why?: string;
}

export const LAW: readonly RoomLaw[] = [
  { room: 'domain', paths: ['src/domain/'], may: [] },
  { room: 'ports', paths: ['src/ports/'], may: ['domain (types)'] },
  {
    room: 'observe',
    paths: ['src/observe/'],
    may: ['domain', 'prom-client', '@opentelemetry/*'],
    extended: [
      { may: ['node:async_hooks'], why: 'a log line knows which request it is about without being told' },
      {
        may: ['node:diagnostics_channel', 'node:http (types)'],
        why: 'calls to vendors are seen without a change to whoever makes them',
      },
    ],
  },
  {
    room: 'workflows',
    paths: ['workflows/'],
    may: ['domain', 'workflows/contract', 'activities (types)', '@temporalio/workflow'],
  },
  {
    room: 'workflows/contract',
    paths: ['workflows/contract.ts', 'workflows/search-attributes.ts'],
    may: ['domain (types)'],
    extended: [
      {
        may: ['@temporalio/common'],
        why: 'typed search attribute keys come from there; the workflow bundle holds that package anyway',
      },
    ],
    why: 'names and types that workflows, activities and the Temporal adapter share; no behaviour',
  },
  {
    room: 'activities',
    paths: ['activities/'],
    may: ['domain', 'ports', 'store', 'observe', 'workflows/contract', '@temporalio/activity'],
  },
  {
    room: 'app',
    paths: ['src/app/'],
    may: ['domain', 'ports', 'store', 'observe'],
    extended: [
      {
        may: ['node:crypto', 'node:zlib'],
        why: 'keys and ids are made of randomness, SHA-256, HMAC and CRC-32; passwords are kept as scrypt',
      },
      { may: ['lru-cache'], why: 'what is remembered of keys and top-ups stays within a bound' },
    ],
  },
  {
    room: 'http',
    paths: ['src/http/'],
    may: [
      'app',
      'domain',
      'observe',
      'ports (types)',
      'koa',
      '@koa/*',
      'zod',
      '@asteasolutions/zod-to-openapi',
    ],
    extended: [
      { may: ['node:*'], why: 'it is the server itself: sockets, request ids, files of the reference page' },
      { may: ['ipaddr.js'], why: 'addresses and ranges at a security border are not parsed by hand' },
      { may: ['lru-cache'], why: 'rendered catalogue answers stay within a bound' },
      { may: ['swagger-ui-dist'], why: 'the files of the reference page, served from here' },
    ],
  },
  { room: 'store', paths: ['src/store/'], may: ['domain', 'kysely', 'pg'] },
  {
    room: 'store/migrate-database',
    paths: ['src/platform/database/migrate-database.ts'],
    may: ['store', 'migrations', 'kysely'],
    why: 'gives migrations their connections, so that nobody else needs to know how a database is opened',
  },
  {
    room: 'adapters/esim-access',
    paths: ['src/adapters/esim-access/'],
    may: ['domain', 'ports', 'observe', 'adapters/http'],
    extended: [{ may: ['node:crypto'], why: 'request ids and signatures' }],
  },
  {
    room: 'adapters/http',
    paths: ['src/adapters/http/'],
    may: [],
    extended: [{ may: ['node:http', 'node:https'], why: 'sockets with limits of their own' }],
    importedBy: ['adapters/esim-access', 'adapters/paystack', 'adapters/rates'],
    why: 'what adapters to HTTP APIs share: one exchange within limits, and guards for the JSON that comes back; knows no vendor',
  },
  {
    room: 'adapters/outbound',
    paths: ['src/adapters/outbound/'],
    may: ['domain', 'ports', 'observe', 'ipaddr.js', 'standardwebhooks'],
    extended: [
      {
        may: ['node:dns/promises', 'node:http', 'node:net', 'node:tls'],
        why: 'names are asked, and connections opened, step by step, so that nothing is called that was not checked',
      },
    ],
    why: 'the one way to URLs that others wrote down: guarded, signed, and never a proxy or a redirect',
  },
  {
    room: 'adapters/paystack',
    paths: ['src/adapters/paystack/'],
    may: ['domain', 'ports', 'observe', 'adapters/http'],
    extended: [{ may: ['node:crypto'], why: 'signatures and keys of its events' }],
  },
  {
    room: 'adapters/rates',
    paths: ['src/adapters/rates/'],
    may: ['domain', 'ports', 'observe', 'adapters/http'],
  },
  {
    room: 'adapters/redis',
    paths: ['src/adapters/redis/'],
    may: ['domain', 'ports', 'observe', 'ioredis', 'rate-limiter-flexible'],
  },
  {
    room: 'adapters/temporal',
    paths: ['src/adapters/temporal/'],
    may: [
      'domain',
      'ports',
      'observe',
      'workflows/contract',
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/worker',
    ],
    extended: [
      { may: ['node:url'], why: 'the bundler takes the path of the workflows, not their module' },
      {
        may: ['node:crypto', 'node:fs/promises'],
        why: 'a bundle made beforehand is a file, and says which sources it was made of',
      },
      { may: ['node:vm', 'node:worker_threads'], why: 'it prepares the threads that workflows run in' },
    ],
  },
  {
    room: 'adapters/smtp',
    paths: ['src/adapters/smtp/'],
    may: ['domain', 'ports', 'observe', 'nodemailer'],
  },
  {
    room: 'adapters/secret-box',
    paths: ['src/adapters/secret-box/'],
    may: ['domain', 'ports'],
    extended: [{ may: ['node:crypto'], why: 'it seals secrets with AES-256-GCM' }],
  },
  {
    room: 'sandbox',
    paths: ['src/sandbox/'],
    may: [],
    extended: [
      { may: ['node:*'], why: 'a program of its own: server, storage (SQLite) and signatures' },
      {
        may: ['mcc-mnc-list', 'world-countries'],
        why: 'its catalogue is made of real countries and operators',
      },
      { may: ['qrcode'], why: 'QR pictures of activation codes' },
    ],
  },
  {
    room: 'config',
    paths: [
      'src/platform/config/config.ts',
      'src/platform/config/fields.ts',
      'src/platform/config/operations.ts',
      'src/platform/config/payments.ts',
      'src/platform/config/reconcile.ts',
      'src/platform/config/timings.ts',
      'src/platform/config/webhooks.ts',
    ],
    may: ['domain', 'observe', 'zod', 'node:os', 'node:path'],
    importedBy: ['compose', 'embedded', 'roles', 'main'],
    why: 'the only reader of the environment; everybody else is handed what it needs',
  },
  {
    room: 'version',
    paths: ['src/platform/version.ts'],
    may: ['package.json'],
    why: 'one reader of package.json',
  },
  {
    room: 'compose',
    paths: [
      'src/platform/composition/compose.ts',
      'src/platform/composition/finance.ts',
      'src/platform/composition/shared.ts',
      'src/platform/composition/no-gateway.ts',
      'src/platform/composition/ops-composition.ts',
      'src/platform/composition/webhooks.ts',
    ],
    may: ['*'],
    importedBy: ['main', 'roles', 'embedded'],
  },
  {
    room: 'roles',
    paths: ['src/roles/'],
    may: [
      'compose',
      'config (types)',
      'app',
      'http',
      'store',
      'store/migrate-database',
      'observe',
      'domain',
      'adapters/temporal',
      'version',
      'zod',
      'node:*',
    ],
    extended: [
      {
        may: ['ipaddr.js'],
        why: 'an address that is none is refused when a key is made, not when it is used',
      },
      {
        may: ['standardwebhooks'],
        why: 'the developer’s listener checks what comes as any merchant would',
      },
    ],
    importedBy: ['main'],
    why: 'next to main: what one process starts and how it stops, one file per role',
  },
  { room: 'embedded', paths: ['src/embedded/'], may: ['*'], importedBy: ['main'] },
  {
    room: 'main',
    paths: ['src/main.ts'],
    may: ['compose', 'config', 'embedded', 'roles'],
    extended: [
      {
        may: ['observe', 'node:util', 'node:module', 'node:path'],
        why: 'the log, the flags and the cache of compiled files exist before any role does',
      },
    ],
    importedBy: [],
  },
  { room: 'migrations', paths: ['migrations/'], may: ['kysely'] },
  { room: 'bench', paths: ['bench/'], may: ['*'], importedBy: ['test'] },
  { room: 'test', paths: ['test/'], may: ['*'], importedBy: ['bench'] },
];

/** Rooms that may import anything, whatever the other room's `importedBy` says. */
export const OBSERVERS: readonly string[] = ['bench', 'test'];

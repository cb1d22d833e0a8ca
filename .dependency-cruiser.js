// Who may import whom: `npm run check` refuses everything else, and every cycle, imports of types included.
// docs/ARCHITECTURE.md ("Modules") tells the same in prose.

/** The nouns of the business. Each may use those after it, never those before it. */
const NOUNS = [
  'billing',
  'reconciliation',
  'operations',
  'purchases',
  'payments',
  'esims',
  'ledger',
  'webhooks',
  'jobs',
  'catalogue',
  'accounts',
];
const NOUN = `(${NOUNS.join('|')})`;
/** A noun's files that are neither HTTP nor SQL, in its own folder and in those of its subjects. */
const INSIDE = '(?!http/|store/).*';

const order = NOUNS.slice(1).map((noun, index) => ({
  name: `${noun}-stands-below`,
  comment: `${noun} does not know the nouns that stand on it`,
  severity: 'error',
  from: { path: `^src/${noun}/` },
  to: { path: `^src/(${NOUNS.slice(0, index + 1).join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: "the SDK's generator makes one, of types, and VitePress one in what it builds",
      severity: 'error',
      from: { pathNot: '^packages/(sdk/(src/generated|dist)|docs-site/dist)/' },
      to: { circular: true },
    },
    {
      name: 'no-unknown-modules',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(bun:|cloudflare:)' },
    },
    ...order,
    {
      name: 'domain-is-shared-by-all',
      comment: 'money, ids, errors and states stand on nothing',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: '^src/domain/' },
    },
    {
      name: 'rules-are-pure',
      comment:
        'rules decide by other rules (the table of actions is such) and by the domain: no use case, no database, no network, no library',
      severity: 'error',
      from: { path: `^src/${NOUN}/${INSIDE}rules\\.ts$` },
      to: {
        pathNot: `^src/(domain/|${NOUN}/${INSIDE}rules\\.ts$|accounts/operators/action-table\\.ts$)`,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'rules-name-types-of-their-nouns',
      comment: 'types of a port or of a use case are fine, those of the store and of routes are not',
      severity: 'error',
      from: { path: `^src/${NOUN}/${INSIDE}rules\\.ts$` },
      to: { pathNot: `^src/(domain/|${NOUN}/${INSIDE}\\.ts$|platform/idempotency/tag\\.ts$)` },
    },
    {
      name: 'only-the-route-table-knows-routes',
      comment:
        'a noun uses another by its use cases, its rules or its store, never by its routes; fields and shapes that both answer stand in http/shared.ts. The command line is a client of the API: it reads answers by their schemas',
      severity: 'error',
      from: { path: `^(?!src/app/|src/cli/webhooks-client\\.ts|test/)(?:src/${NOUN}/http/|)` },
      to: {
        path: `^src/${NOUN}/http/`,
        pathNot: `^src/$1/http/|^src/${NOUN}/http/shared\\.ts$`,
      },
    },
    {
      name: 'use-cases-do-not-know-http',
      severity: 'error',
      from: { path: `^src/${NOUN}/(?!http/)` },
      to: { path: `^src/(platform/http/|${NOUN}/http/)` },
    },
    {
      name: 'nouns-are-handed-what-they-need',
      comment: 'vendors, engines and settings come from app/',
      severity: 'error',
      from: { path: `^src/${NOUN}/` },
      to: { path: '^(src/(app|vendors|cli|dev|platform/(temporal|redis))/|workflows/|activities/)' },
    },
    {
      name: 'agents-use-routes',
      comment: 'a tool runs a route: it knows no use case, store or process',
      severity: 'error',
      from: { path: '^src/mcp/' },
      to: {
        path: '^(src|workflows|activities)/',
        pathNot: '^src/(mcp|platform|domain)/|^src/esims/install-data\\.ts$',
      },
    },
    {
      name: 'vendors-know-ports-only',
      severity: 'error',
      from: { path: '^src/vendors/([^/]+)/' },
      to: {
        path: '^(src|workflows|activities)/',
        pathNot: `^src/(vendors/($1|http)/|domain/|platform/(telemetry|outbound)/|platform/[^/]+\\.ts$|${NOUN}/[^/]*(port|rules|pricing)[^/]*\\.ts$)`,
      },
    },
    {
      name: 'platform-is-the-ground',
      comment: 'it stands on the domain alone; what connects everything stands in app/',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^(src|workflows|activities)/', pathNot: '^src/(platform|domain)/' },
    },
    {
      name: 'app-is-the-roof',
      comment: 'only what starts the program stands above it',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/', pathNot: '^src/(app|cli|dev)/|^src/main\\.ts$' },
      to: { path: '^src/app/' },
    },
    {
      name: 'workflows-are-deterministic',
      comment: 'only pure files, the contract and the SDK: whatever else they need, an activity does',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        pathNot: `^(workflows/|src/domain/|src/${NOUN}/${INSIDE}\\.ts$|src/platform/idempotency/tag\\.ts$|activities/|node_modules/@temporalio/(workflow|common))`,
      },
    },
    {
      name: 'workflows-know-activities-by-type',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'activities-are-steps',
      severity: 'error',
      from: { path: '^activities/' },
      to: {
        path: `^(src/(app|vendors|cli|dev)/|src/platform/(http|redis|temporal)/|src/${NOUN}/http/|workflows/(?!contract|search-attributes))`,
      },
    },
    {
      name: 'packages-stand-alone',
      comment: 'the client asks the documented routes, the simulators speak the formats of vendors',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(src|workflows|activities|migrations|dashboard|test|bench)/' },
    },
    {
      name: 'the-sdk-runs-anywhere',
      comment: 'on Node, Bun, in workers and in browsers',
      severity: 'error',
      from: { path: '^packages/sdk/src/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'the-kit-knows-no-vendor',
      severity: 'error',
      from: { path: '^packages/simulators/kit/' },
      to: { path: '^packages/simulators/', pathNot: '^packages/simulators/kit/' },
    },
    {
      name: 'a-simulator-knows-no-other',
      severity: 'error',
      from: { path: '^packages/simulators/(?!kit/)([^/]+)/' },
      to: { path: '^packages/simulators/[^/]+/', pathNot: '^packages/simulators/($1|kit)/' },
    },
    {
      name: 'only-development-knows-the-simulators',
      severity: 'error',
      from: { pathNot: '^(packages/simulators|src/(dev|cli)|test|bench)/' },
      to: { path: '^packages/simulators/' },
    },
    {
      name: 'only-the-command-line-knows-commands',
      severity: 'error',
      from: { pathNot: '^(src/(cli|dev)/|src/main\\.ts|test/|bench/)' },
      to: { path: '^src/(cli|dev)/' },
    },
    {
      name: 'the-dashboard-knows-http-only',
      comment: 'it asks the documented routes, by types generated from their documents',
      severity: 'error',
      from: { path: '^dashboard/' },
      to: { path: '^(src|workflows|activities|migrations|test|bench)/' },
    },
    {
      name: 'the-dashboard-is-not-imported',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations|bench)/' },
      to: { path: '^dashboard/' },
    },
    {
      name: 'migrations-know-the-domain-only',
      comment: 'their checks are written from its lists',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^(src|workflows|activities)/', pathNot: '^src/domain/' },
    },
    {
      name: 'the-service-ships-without-tests',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
      to: { path: '^(test|bench)/', dependencyTypesNot: ['npm'] },
    },
    {
      name: 'the-service-ships-without-development-packages',
      severity: 'error',
      from: {
        path: '^(src|packages|workflows|activities|migrations)/',
        pathNot: '^packages/((client|sdk)/generate.js$|docs-site/)',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    // What is built is not ours to read.
    exclude: { path: '^packages/[^/]+/dist/' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};

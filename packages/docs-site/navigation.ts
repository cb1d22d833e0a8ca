/**
 * The pages of the site, in the order of its navigation: a page is one line here. Its address is the name of
 * its file (docs/API.md: /docs/api), or the folder's where that is README.md (packages/sdk/README.md:
 * /docs/sdk). Files that these pages link to need no line: see pages.ts.
 */
export interface Section {
  readonly title: string;
  readonly pages: readonly PageEntry[];
}

/**
 * The file, from the root of the repository, and its name in the navigation. A long one is a page for each
 * of its chapters.
 */
export type PageEntry = readonly [source: string, title: string, form?: 'in parts'];

export const NAVIGATION: readonly Section[] = [
  {
    title: 'Guides',
    pages: [
      ['docs/guides/first-purchase.md', 'First purchase'],
      ['docs/guides/card-checkout.md', 'Card checkout'],
      ['docs/guides/top-ups.md', 'Top-ups'],
      ['docs/guides/install-links.md', 'Install links'],
      ['docs/guides/webhooks.md', 'Webhooks, step by step'],
      ['docs/guides/batches.md', 'Batches'],
      ['docs/guides/returns.md', 'Returns'],
      ['docs/guides/replacements.md', 'Replacements'],
      ['docs/guides/statements.md', 'Statements'],
      ['docs/guides/errors.md', 'When something fails'],
      ['docs/guides/going-live.md', 'Going live'],
      ['docs/guides/journeys.md', 'Journeys for programs'],
    ],
  },
  {
    title: 'Build',
    pages: [
      ['docs/API.md', 'The API', 'in parts'],
      ['docs/SANDBOX.md', 'Sandbox', 'in parts'],
      ['docs/WEBHOOKS.md', 'Webhooks', 'in parts'],
      ['docs/ERRORS.md', 'Errors and their codes'],
      ['packages/sdk/README.md', 'SDK for TypeScript'],
      ['packages/sdk-go/README.md', 'SDK for Go'],
      ['examples/shop/README.md', 'A small shop'],
      ['docs/MCP.md', 'Agents: MCP'],
      ['docs/ACP.md', 'Agents of buyers: ACP'],
      ['.agents/skills/simway/SKILL.md', 'A skill for agents'],
    ],
  },
  {
    title: 'Operate',
    pages: [
      ['docs/OPERATIONS.md', 'Operations', 'in parts'],
      ['docs/SETTINGS.md', 'Settings'],
      ['docs/ALERTS.md', 'Alerts'],
      ['docs/RECONCILIATION.md', 'Reconciliation'],
      ['docs/DASHBOARD.md', 'Dashboard'],
      ['docs/CAPACITY.md', 'Capacity'],
      ['docs/SCALING.md', 'Scaling'],
      ['docs/BENCHMARKS.md', 'Benchmarks'],
    ],
  },
  {
    title: 'Understand',
    pages: [
      ['docs/ARCHITECTURE.md', 'Architecture'],
      ['docs/PROMISES.md', 'Promises'],
      ['docs/decisions/README.md', 'Decisions'],
      ['SECURITY.md', 'Security'],
      ['CONTRIBUTING.md', 'Contributing'],
    ],
  },
];

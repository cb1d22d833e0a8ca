// What the guides and the agent skill name exists: codes, states, magic packages, routes. Their commands and
// code run in test/first-steps.
import { describe, expect, it } from 'vitest';
import { MAGIC_PACKAGES } from '../../packages/sdk/src/index.ts';
import { createRouteTable, openApiDocument } from '../../src/app/routes/route-table.ts';
import { FAILURE_REASONS } from '../../src/domain/refusals.ts';
import { projectFiles, textOf } from './source-files.ts';

const SKILL = '.agents/skills/simway/SKILL.md';
const GUIDES = projectFiles().filter((file) => file.startsWith('docs/guides/') && file.endsWith('.md'));
const PAGES = [...GUIDES, SKILL];
const info = { version: '', brand: 'simway' };
/** Variables of the commands. */
const VARIABLES = ['URL', 'KEY', 'RUN'];

const found = (text: string, pattern: RegExp): string[] => [
  ...new Set(Array.from(text.matchAll(pattern), ([, word]) => word ?? '')),
];

describe.each(PAGES)('%s', (page) => {
  const text = textOf(page);

  it('names only codes and states of the API', async () => {
    const document = await openApiDocument('api', info);
    const named = found(text, /`([A-Z][A-Z_]{2,})`/g);
    const isKnown = (word: string): boolean =>
      document.includes(`"${word}"`) || word in FAILURE_REASONS || VARIABLES.includes(word);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((word) => !isKnown(word))).toEqual([]);
  });

  it('names only packages that the sandbox has', () => {
    const codes = found(text, /\b(SIM-[A-Z]+(?:-[A-Z]+)*)/g);
    expect(codes.filter((code) => !(MAGIC_PACKAGES as readonly string[]).includes(code))).toEqual([]);
  });

  it('names only routes of the API', () => {
    const routes = createRouteTable(info).map(
      ({ path }) => new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    );
    const paths = found(text, /(?<=[\s`"L])(\/api\/[\w/{}$.-]*[\w}])/g);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !routes.some((route) => route.test(path)))).toEqual([]);
  });
});

describe.each(GUIDES)('%s', (page) => {
  it('begins with what one has at the end, links to the error codes, and says what is next', () => {
    const text = textOf(page);
    expect(text).toMatch(/^# .+\n\nAt the end /);
    expect(text).toContain('](../ERRORS.md#codes)');
    expect(text).toMatch(/\n## What next\n\n- /);
  });

  it('is linked from README.md and docs/API.md', () => {
    expect(textOf('README.md')).toContain(`](${page})`);
    expect(textOf('docs/API.md')).toContain(`](${page.replace('docs/', '')})`);
  });
});

it('the agent skill is called as its folder, says when to use it, and is short', () => {
  const text = textOf(SKILL);
  expect(text).toMatch(/^---\nname: simway\ndescription: .{50,1024}\n---\n/);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
});

// Pages that are run within one second would otherwise take each other's purchase for theirs.
it('no two guides use one idempotency key', () => {
  const keys = PAGES.flatMap((page) => found(textOf(page), /Idempotency-Key: ([^"$]*)\$RUN/g));
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});

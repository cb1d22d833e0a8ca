// Which documents are pages of the documentation, and where their links lead.
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NAVIGATION } from '../../packages/docs-site/navigation.ts';
import { llmsText, nameOf, readSite, slugOf } from '../../packages/docs-site/pages.ts';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { pathExists, ROOT, textOf } from './source-files.ts';

const listed = NAVIGATION.flatMap(({ pages }) => pages.map(([source]) => source));
const { pages, copies } = readSite();
const names = new Set(pages.map(({ name }) => name));

it('every document and every guide is in the navigation, once', () => {
  const documents = globSync(['docs/*.md', 'docs/guides/*.md'], { cwd: ROOT });
  expect(documents.length).toBeGreaterThan(10);
  expect(documents.filter((file) => !listed.includes(file))).toEqual([]);
  expect(listed.toSorted()).toEqual([...new Set(listed)].toSorted());
  expect(listed.filter((file) => !pathExists(file))).toEqual([]);
});

it('every page has an address of its own, which is not that of the reference', () => {
  expect(names.size).toBe(pages.length);
  expect(names.has('reference')).toBe(false);
  expect(['docs/API.md', 'docs/guides/first.md', 'packages/sdk/README.md'].map(nameOf)).toEqual([
    ...['api', 'guides/first', 'sdk'],
  ]);
});

it('every link of a page leads to a page, a copied file, an address of the service, or elsewhere', () => {
  const links = pages.flatMap(({ markdown }) =>
    Array.from(
      markdown.replaceAll(/^ *```[^]*?^ *```/gm, '').matchAll(/\]\(([^)\s]+)\)/g),
      ([, to]) => to ?? '',
    ),
  );
  expect(links.length).toBeGreaterThan(200);
  const files = new Set([...copies.values()].map((copy) => `/docs/${copy}`));
  const known = ['/docs/reference', '/api/openapi.json', '/llms.txt'];
  const lost = links.filter(
    (to) =>
      !/^(https?:|mailto:|#)/.test(to) &&
      !known.includes(to) &&
      !files.has(to) &&
      !names.has(to.replace(/^\/docs\//, '').replace(/#.*/, '')),
  );
  expect(lost).toEqual([]);
  expect([...copies.keys()]).toContain('docs/examples/webhook-receiver.ts');
});

it('every link to a place of a page names a heading there, or an error code', () => {
  const places = new Map(
    pages.map(({ name, markdown }) => [
      name,
      new Set(Array.from(markdown.matchAll(/^#+ +(.+)$/gm), ([, words]) => slugOf(words ?? ''))),
    ]),
  );
  const isPlace = (page: string, place: string) =>
    places.get(page)?.has(place) === true || (page === 'errors' && /^[A-Z_]+$/.test(place));
  const links = pages.flatMap(({ name, markdown }) =>
    Array.from(
      markdown.matchAll(/\]\((?:\/docs\/([^)\s#]*))?#([^)\s]+)\)/g),
      ([, to = name, place = '']) => [to, place] as const,
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(([to, place]) => !isPlace(to, place))).toEqual([]);
});

it('a long document has a page for each chapter, with links to its places', () => {
  const [whole, fixing] = ['api', 'api/fixing-the-price'].map((name) =>
    pages.find((page) => page.name === name),
  );
  expect(whole?.markdown).not.toContain('\n## ');
  expect(fixing?.markdown).toMatch(/^# Fixing the price\n/);
  const chapters = pages.filter(({ name }) => name.startsWith('api/'));
  expect(chapters.filter(({ markdown }) => markdown.length > 25_000).map(({ name }) => name)).toEqual([]);
  expect(chapters.filter(({ summary }) => summary === '').map(({ name }) => name)).toEqual([]);
});

it('every page of the navigation has a title of its own, and a summary on the first page', () => {
  const inNavigation = pages.filter(({ name }) => listed.map(nameOf).includes(name));
  const titles = inNavigation.map(({ title }) => title);
  expect(titles.filter((title, at) => title === '' || titles.indexOf(title) !== at)).toEqual([]);
  expect(inNavigation.filter(({ summary }) => summary === '').map(({ name }) => name)).toEqual([]);
  // It begins with a head for programs.
  expect(pages.find(({ name }) => name === 'agents/skills/simway/skill')).toMatchObject({
    title: 'Simway',
    summary: 'Buy, top up and support travel eSIMs through the Simway API, safely.',
  });
});

it('no page begins with files of its tests or sources', () => {
  const begins = pages
    .filter(({ name }) => /^(guides\/|errors|sdk|api$|webhooks$|sandbox$)/.test(name))
    .map(({ name, markdown }) => [name, markdown.slice(0, 800)] as const);
  expect(begins.length).toBeGreaterThan(10);
  expect(begins.filter(([, text]) => /`(test|src)\//.test(text)).map(([name]) => name)).toEqual([]);
});

it('llms.txt lists every page', () => {
  const text = llmsText(pages);
  for (const { name } of pages.filter((page) => page.name !== 'index'))
    expect(text).toContain(`(/docs/${name}.md)`);
});

it('every error code begins a row, which is its anchor', () => {
  const page = textOf('docs/ERRORS.md');
  expect(ERROR_CODES.filter((code) => !page.includes(`\n| \`${code}\``))).toEqual([]);
});

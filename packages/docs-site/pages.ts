/**
 * Makes the site's pages of the repository's documents. The only thing that changes is where links lead: to
 * the page that is made of a document, to a copy of an image or file beside the pages, or nowhere, where the
 * target is neither (its text stays, with the path).
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { NAVIGATION, type PageEntry } from './navigation.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const BASE = '/docs/';

export interface Page {
  /** Below BASE, without ending; `index` for the first page. */
  readonly name: string;
  readonly title: string;
  /** The first sentence. */
  readonly summary: string;
  readonly markdown: string;
  readonly inNavigation: boolean;
}

export interface Site {
  readonly pages: readonly Page[];
  /** Copied unchanged: from the root of the repository, to below BASE. */
  readonly copies: ReadonlyMap<string, string>;
}

/** Throws where a page of the navigation does not exist. */
export function readSite(): Site {
  const listed = NAVIGATION.flatMap(({ pages }) => pages.map(([source]) => source));
  const decisions = globSync('docs/decisions/*.md', { cwd: ROOT }).toSorted();
  const names = new Map([...new Set([...listed, ...decisions])].map((source) => [source, nameOf(source)]));
  const copies = new Map<string, string>();
  const pages = Array.from(names, ([source, name]): Page => {
    const markdown = withLinks(source, readFileSync(join(ROOT, source), 'utf8'), { names, copies });
    return { name, ...introOf(markdown), markdown, inNavigation: listed.includes(source) };
  });
  return { pages: [homePage(pages), ...pages], copies };
}

/** The name of the page that is made of a file. */
export function nameOf(source: string): string {
  const path = source.replace(/^(docs\/|\.)/, '').toLowerCase();
  return path.endsWith('readme.md') ? basename(dirname(path)) : path.replace(/\.md$/, '');
}

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;
const FENCE = /(^ *```[^]*?^ *```)/m;

function withLinks(
  source: string,
  text: string,
  to: { readonly names: ReadonlyMap<string, string>; readonly copies: Map<string, string> },
): string {
  const rewrite = (all: string, image: string, words: string, target: string): string => {
    if (/^(\w+:|#|\/)/.test(target)) return all;
    const [path = '', anchor] = target.split('#', 2);
    const file = posix.normalize(posix.join(posix.dirname(source), path));
    const name = to.names.get(file);
    if (name !== undefined) return `[${words}](${BASE}${name}${anchor === undefined ? '' : `#${anchor}`})`;
    if (!existsSync(join(ROOT, file)) || statSync(join(ROOT, file)).isDirectory())
      return `${words} (\`${file}\`)`;
    // As text: browsers would keep a file of code as a download.
    const copy = image ? `files/${file}` : `files/${file}.txt`;
    to.copies.set(file, copy);
    return `${image}[${words}](${BASE}${copy})`;
  };
  return text
    .replaceAll(/^<!--.*?-->\n/gms, '')
    .split(FENCE)
    .map((part, index) => (index % 2 ? part : part.replaceAll(LINK, rewrite)))
    .join('');
}

function introOf(markdown: string): Pick<Page, 'title' | 'summary'> {
  const [, title = '', rest = ''] = /^# (.+)\n+([^]*)/.exec(markdown) ?? [];
  const paragraph = rest.split('\n\n')[0]?.replaceAll('\n', ' ') ?? '';
  const plain = paragraph.replaceAll(LINK, '$2').replaceAll('**', '');
  return { title, summary: /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain };
}

function homePage(pages: readonly Page[]): Page {
  const title = 'Simway';
  const summary = 'Sell data for travellers: search packages, buy eSIMs, and follow every order to its end.';
  const lists = navigationOf(pages).map(
    ({ title: section, items }) =>
      `## ${section}\n\n${items.map(({ text, page }) => `- [${text}](${BASE}${page.name}): ${page.summary}`).join('\n')}\n`,
  );
  const reference = `The [API reference](${BASE}reference) has every route and field. For programs: [the OpenAPI document](/api/openapi.json), and [llms.txt](/llms.txt), which lists these pages; each is also Markdown, at its address with \`.md\`.`;
  const markdown = `# ${title}\n\n${summary}\n\n${reference}\n\n${lists.join('\n')}`;
  return { name: 'index', title, summary, markdown, inNavigation: false };
}

/** The sections with the pages that were made. */
export function navigationOf(pages: readonly Page[]) {
  const itemOf = ([source, text]: PageEntry) => {
    const page = pages.find(({ name }) => name === nameOf(source));
    return page ? [{ text, page }] : [];
  };
  return NAVIGATION.map(({ title, pages: entries }) => ({ title, items: entries.flatMap(itemOf) }));
}

/** The list of all pages for programs that read Markdown: https://llmstxt.org */
export function llmsText(pages: readonly Page[]): string {
  const line = (text: string, page: Page): string => `- [${text}](${BASE}${page.name}.md): ${page.summary}`;
  const sections = navigationOf(pages).map(
    ({ title, items }) => `## ${title}\n\n${items.map(({ text, page }) => line(text, page)).join('\n')}\n`,
  );
  const [home, ...others] = pages;
  // By this name programs know what they may leave out.
  const optional = others.filter(({ inNavigation }) => !inNavigation).map((page) => line(page.title, page));
  return [
    `# ${home?.title ?? ''}\n\n> ${home?.summary ?? ''}\n`,
    '- [OpenAPI document](/api/openapi.json): every route and field of the API\n',
    ...sections,
    `## Optional\n\n${optional.join('\n')}\n`,
  ].join('\n');
}

/**
 * Makes the site's pages of the repository's documents. Text stays as it is: a long document is cut at its
 * chapters, and links lead to the page that is made of a document, to a copy of an image or file beside the
 * pages, or nowhere, where the target is neither (its text stays, with the path).
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
  const entries = NAVIGATION.flatMap(({ pages }) => pages);
  const listed = entries.map(([source]) => source);
  const inParts = new Set(entries.flatMap(([source, , form]) => (form === 'in parts' ? [source] : [])));
  const decisions = globSync('docs/decisions/*.md', { cwd: ROOT }).toSorted();
  const documents = new Map(
    [...new Set([...listed, ...decisions])].map((source): [string, Document] => [
      source,
      readDocument(source, inParts.has(source)),
    ]),
  );
  const copies = new Map<string, string>();
  const pages = Array.from(documents, ([source, { name, whole, parts }]): Page[] => {
    const pageOf = (address: string, text: string): Page => {
      const markdown = withLinks(source, text, { documents, copies });
      return { name: address, ...introOf(markdown), markdown, inNavigation: listed.includes(source) };
    };
    return [pageOf(name, whole), ...parts.map((part) => pageOf(part.name, part.text))];
  }).flat();
  return { pages: [homePage(pages), ...pages], copies };
}

/** The name of the page that is made of a file. */
export function nameOf(source: string): string {
  const path = source.replace(/^(docs\/|\.)/, '').toLowerCase();
  return path.endsWith('readme.md') ? basename(dirname(path)) : path.replace(/\.md$/, '');
}

/** The ids that GitHub gives to headings, since the documents' links name those. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

interface Document {
  readonly name: string;
  /** The text; of a document in parts, what stands before them and a list of them. */
  readonly whole: string;
  readonly parts: readonly Part[];
}

interface Part {
  readonly name: string;
  readonly text: string;
  /** Of its headings. The first is its own. */
  readonly anchors: readonly string[];
}

const HEADING = /^#{2,} +(.+)$/gm;

/** A document in parts has a page for each chapter, with the chapter's heading as its title. */
function readDocument(source: string, isInParts: boolean): Document {
  const name = nameOf(source);
  const text = readFileSync(join(ROOT, source), 'utf8').replaceAll(/^<!--.*?-->\n/gms, '');
  if (!isInParts) return { name, whole: text, parts: [] };
  const [before = '', ...chapters] = outsideFences(text, (part) => part.replaceAll(/^## /gm, '\0## ')).split(
    '\0',
  );
  const parts = chapters.map((chapter): Part => {
    const anchors: string[] = [];
    const lifted = outsideFences(chapter, (part) =>
      part.replaceAll(HEADING, (heading, words: string) => {
        anchors.push(slugOf(words));
        return heading.slice(1);
      }),
    );
    return { name: `${name}/${anchors[0] ?? ''}`, text: lifted, anchors };
  });
  const list = parts.map(({ anchors, text: part }) => {
    const { title, summary } = introOf(part);
    return `- [${title}](#${anchors[0] ?? ''})${summary && `: ${summary.replaceAll(LINK, '$2')}`}`;
  });
  return { name, whole: `${before}${list.join('\n')}\n`, parts };
}

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;
const FENCE = /(^ *```[^]*?^ *```)/m;

const outsideFences = (text: string, change: (part: string) => string): string =>
  text
    .split(FENCE)
    .map((part, index) => (index % 2 ? part : change(part)))
    .join('');

/** The address of a place of a document. A chapter is a page, so its own anchor leads to the top of it. */
function addressOf({ name, parts }: Document, anchor: string | undefined): string {
  const part = anchor === undefined ? undefined : parts.find(({ anchors }) => anchors.includes(anchor));
  const place = anchor === undefined || part?.anchors[0] === anchor ? '' : `#${anchor}`;
  return `${BASE}${part?.name ?? name}${place}`;
}

function withLinks(
  source: string,
  text: string,
  to: { readonly documents: ReadonlyMap<string, Document>; readonly copies: Map<string, string> },
): string {
  const rewrite = (all: string, image: string, words: string, target: string): string => {
    const isInSamePage = target.startsWith('#') && to.documents.get(source)?.parts.length === 0;
    if (isInSamePage || /^(\w+:|\/)/.test(target)) return all;
    const [path = '', anchor] = target.split('#', 2);
    const file = path === '' ? source : posix.normalize(posix.join(posix.dirname(source), path));
    const document = to.documents.get(file);
    if (document) return `[${words}](${addressOf(document, anchor)})`;
    if (!existsSync(join(ROOT, file)) || statSync(join(ROOT, file)).isDirectory())
      return `${words} (\`${file}\`)`;
    // As text: browsers would keep a file of code as a download.
    const copy = image ? `files/${file}` : `files/${file}.txt`;
    to.copies.set(file, copy);
    return `${image}[${words}](${BASE}${copy})`;
  };
  return outsideFences(text, (part) => part.replaceAll(LINK, rewrite));
}

function introOf(markdown: string): Pick<Page, 'title' | 'summary'> {
  // A skill has a head for programs, with a description.
  const [head = '', description] = /^---\n(?:.+\n)*?description: (.+)\n(?:.+\n)*?---\n+/.exec(markdown) ?? [];
  const [, title = '', rest = ''] = /^# (.+)\n+([^]*)/.exec(markdown.slice(head.length)) ?? [];
  const [first = ''] = description === undefined ? rest.split('\n\n') : [description];
  // A block of code, a table or a list says nothing in one sentence.
  const paragraph = /^(```|[|<#-])/.test(first) ? '' : first.replaceAll('\n', ' ');
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

/** The sections with the pages that were made, and below each the pages of its parts. */
export function navigationOf(pages: readonly Page[]) {
  const itemOf = ([source, text, form]: PageEntry) => {
    const page = pages.find(({ name }) => name === nameOf(source));
    if (!page) return [];
    const parts = form === 'in parts' ? pages.filter(({ name }) => name.startsWith(`${page.name}/`)) : [];
    return [{ text, page, parts }];
  };
  return NAVIGATION.map(({ title, pages: entries }) => ({ title, items: entries.flatMap(itemOf) }));
}

type Item = ReturnType<typeof navigationOf>[number]['items'][number];

/** The list of all pages for programs that read Markdown: https://llmstxt.org */
export function llmsText(pages: readonly Page[]): string {
  const line = (text: string, { name, summary }: Page): string =>
    `- [${text}](${BASE}${name}.md)${summary && `: ${summary}`}`;
  const linesOf = ({ text, page, parts }: Item): string[] => [
    line(text, page),
    ...parts.map((part) => line(`${text}: ${part.title}`, part)),
  ];
  const sections = navigationOf(pages).map(
    ({ title, items }) => `## ${title}\n\n${items.flatMap(linesOf).join('\n')}\n`,
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

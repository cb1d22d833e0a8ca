/** How VitePress builds the pages that build.ts wrote. */
import { defineConfig } from 'vitepress';
import { BASE, navigationOf, readSite, slugOf } from './pages.ts';
import { addCodeAnchors, codeTokens, findableCodes, leadLinks } from './markdown.ts';

const { pages } = readSite();
const names = new Set(pages.map(({ name }) => name));
const sidebar = navigationOf(pages).map(({ title, items }) => ({
  text: title,
  items: items.map(({ text, page, parts }) => ({
    text,
    link: `/${page.name}`,
    ...(parts.length > 0
      ? { collapsed: true, items: parts.map(({ title, name }) => ({ text: title, link: `/${name}` })) }
      : {}),
  })),
}));
/** Of the service, not of the site: the browser loads them anew. */
const reference = { text: 'API reference', link: '/reference', target: '_self' };

export default defineConfig({
  title: 'Simway',
  lang: 'en',
  base: BASE,
  cleanUrls: true,
  srcDir: 'dist/pages',
  outDir: 'dist/site',
  cacheDir: 'dist/cache',
  // Otherwise every page carries the list of all pages.
  metaChunk: true,
  router: { prefetchLinks: false },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: (source, env, markdown) => {
          const html = markdown.render(source, env);
          return env.frontmatter?.['search'] === false ? '' : findableCodes(html);
        },
      },
    },
    nav: [reference],
    sidebar: [{ items: [reference] }, ...sidebar],
    outline: [2, 3],
  },
  markdown: {
    ...codeTokens,
    anchor: { slugify: slugOf },
    image: { lazyLoading: true },
    config: (markdown) => {
      addCodeAnchors(markdown);
      leadLinks(markdown, BASE, names);
    },
  },
  vite: { build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 2_000 }, logLevel: 'warn' },
});

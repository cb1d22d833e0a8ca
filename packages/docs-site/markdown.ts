/** What the site adds to Markdown. */
import { createCssVariablesTheme } from 'shiki';
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress';

const CODE = /^[A-Z][A-Z\d]*(_[A-Z\d]+)+$/;

/** A row of a table whose first cell is a code (`RATE_LIMIT_EXCEEDED`) gets the code as its id. */
export function addCodeAnchors(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('code-anchors', ({ tokens }) => {
    const used = new Set<string>();
    tokens.forEach((token, index) => {
      const [cell, text] = [tokens[index + 1], tokens[index + 2]];
      if (token.type !== 'tr_open' || cell?.type !== 'td_open') return;
      const [first, ...others] = text?.children ?? [];
      if (first?.type !== 'code_inline' || others.length > 0) return;
      if (!CODE.test(first.content) || used.has(first.content)) return;
      used.add(first.content);
      token.attrSet('id', first.content);
    });
  });
}

/**
 * Links have whole addresses (/docs/api), since the documents are served as Markdown too. VitePress puts the
 * base before those of its pages and pictures itself; everything else of the service is loaded anew.
 */
export function leadLinks(markdown: MarkdownRenderer, base: string, pages: ReadonlySet<string>): void {
  const isPage = (address: string): boolean =>
    address.startsWith(base) && pages.has(address.slice(base.length).split('#', 1)[0] ?? '');
  markdown.core.ruler.push('lead-links', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = token.type === 'link_open' ? 'href' : 'src';
      const address = token.attrGet(name);
      if (address?.startsWith('/') !== true) continue;
      if (name === 'src' || isPage(address)) token.attrSet(name, address.slice(base.length - 1));
      else token.attrSet('target', '_self');
    }
  });
}

/** For the index of the search: such a row is a section of its own, found under its code. */
export function findableCodes(html: string): string {
  return html.replaceAll(
    /<tr id="(\w+)">\s*<td>.*?<\/td>([^]*?)<\/tr>/g,
    '</table><h3 id="$1">$1<a class="header-anchor" href="#$1"></a></h3><table><tr>$2</tr>',
  );
}

const TOKEN = /color:\s*var\(--code-(?:token-)?([a-z-]+)\)/;

/**
 * Colours of code as classes, since the content policy takes no style attributes; theme/style.css has the
 * colours.
 */
export const codeTokens: Pick<MarkdownOptions, 'theme' | 'codeTransformers'> = {
  theme: createCssVariablesTheme({ variablePrefix: '--code-', fontStyle: false }),
  codeTransformers: [
    {
      name: 'tokens-as-classes',
      span({ properties }) {
        const kind = TOKEN.exec(String(properties['style']))?.[1];
        delete properties['style'];
        if (kind !== undefined && kind !== 'foreground') properties['class'] = `code-${kind}`;
      },
      pre({ properties }) {
        delete properties['style'];
      },
    },
  ],
};

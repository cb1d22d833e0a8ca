import { createHash } from 'node:crypto';

/** Markup that may be sent as it stands. */
export interface Html {
  readonly markup: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A tagged template. Safe in text and inside quoted attributes; not inside scripts or styles. */
export function html(parts: TemplateStringsArray, ...values: readonly (Html | string)[]): Html {
  const markup = parts.map((part, index) => part + markupOf(values[index] ?? '')).join('');
  return { markup };
}

function markupOf(value: Html | string): string {
  if (typeof value !== 'string') return value.markup;
  return value.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** The source of an inline style or script, as a content policy names it. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A style or a script of a page, with its source for the page's content policy. */
export interface Inline extends Html {
  readonly source: string;
}

const inline = (element: 'style' | 'script', text: string): Inline => ({
  markup: `<${element}>${text}</${element}>`,
  source: hashOf(text),
});

export const inlineStyle = (text: string): Inline => inline('style', text);
export const inlineScript = (text: string): Inline => inline('script', text);

/** HTML put together so that nothing from outside is ever taken for markup: whatever goes into a template is escaped, unless it is one itself. */

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

/** Markup of our own, such as a script whose hash the content policy names. */
export function ownMarkup(markup: string): Html {
  return { markup };
}

function markupOf(value: Html | string): string {
  if (typeof value !== 'string') return value.markup;
  return value.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

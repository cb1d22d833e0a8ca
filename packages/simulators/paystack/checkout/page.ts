/**
 * The hosted checkout page as HTML. It works without scripts; the policy lets it load nothing, and post only
 * to itself.
 */
import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 32rem; padding: 1rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
fieldset { border: 1px solid; border-radius: .5rem; margin: 1rem 0; padding: .5rem 1rem; }
label { display: block; padding: .25rem 0; }
button { border: 1px solid; border-radius: .5rem; font: inherit; margin: 0 .5rem .5rem 0; padding: .6rem 1.2rem; }
.note { border-left: .3rem solid; padding-left: .75rem; }
`;

export interface Page {
  title: string;
  /** What happened, if anything did. */
  notice?: string | undefined;
  isTrouble?: boolean;
  facts: readonly (readonly [name: string, value: string])[];
  /** Ways to pay. Empty: nothing can be paid any more. */
  methods: readonly { value: string; label: string }[];
  /** Where "return to the merchant" leads. */
  returnUrl?: string | undefined;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);
}

/**
 * The page's Content-Security-Policy. A browser applies `form-action` to redirects after a form too, so the
 * merchant's own origins are named.
 */
export function policyOf(urls: readonly (string | null | undefined)[]): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const origins = urls.filter((url) => url != null).map((url) => new URL(url).origin);
  const actions = ["'self'", ...new Set(origins)].join(' ');
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    `form-action ${actions}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Posts to the page's own address, whatever stands in front of this server. */
function formOf({ methods }: Page): string {
  if (methods.length === 0) return '';
  const choices = methods.map(({ value, label }, index) => {
    const checked = index === 0 ? ' checked' : '';
    return `<label><input type="radio" name="way" value="${escapeHtml(value)}"${checked}> ${escapeHtml(label)}</label>`;
  });
  return `<form method="post">
<fieldset><legend>Pay with</legend>
${choices.join('\n')}
</fieldset>
<button type="submit" name="action" value="pay">Pay</button>
<button type="submit" name="action" value="fail">Fail (declined)</button>
<button type="submit" name="action" value="abandon">Abandon</button>
</form>`;
}

export function renderPage(page: Page): string {
  const { title, notice, isTrouble, facts, returnUrl } = page;
  const role = isTrouble === true ? 'alert' : 'status';
  const note = notice === undefined ? '' : `<p class="note" role="${role}">${escapeHtml(notice)}</p>`;
  const list = facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`);
  const back =
    returnUrl === undefined ? '' : `<p><a href="${escapeHtml(returnUrl)}">Return to the merchant</a></p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>This is a sandbox: no money moves.</p>
${note}
<dl>
${list.join('\n')}
</dl>
${formOf(page)}
${back}
</main>
</body>
</html>
`;
}

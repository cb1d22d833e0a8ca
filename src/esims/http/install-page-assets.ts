/**
 * Style and script of the install page. The policy allows the inline style by its hash. The script is one of
 * our files, and the page works without it.
 */
import { inlineStyle } from '../../platform/http/html.ts';

export const STYLE = inlineStyle(`
:root { color-scheme: light dark; --ink: #16181d; --soft: #565d68; --back: #f3f4f6; --card: #fff; --line: #d5d9e0;
  --accent: #0b57d0; --on-accent: #fff; --note: #fff4d6; --note-line: #c98a00;
  font: 1.0625rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", sans-serif; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #a9b1bd; --back: #101216; --card: #1b1e24;
  --line: #383d47; --accent: #a8c7fa; --on-accent: #062e6f; --note: #3a2f12; --note-line: #e0ad3a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); overflow-wrap: anywhere; }
main, header { max-width: 36rem; margin: 0 auto; padding: 0 1rem; }
main { padding-bottom: 2.5rem; }
nav ul { display: flex; flex-wrap: wrap; margin: 0 -0.375rem; padding: 0.25rem 0; list-style: none; }
nav li { margin: 0; }
nav a { display: block; min-height: 2.75rem; padding: 0.75rem 0.375rem; color: var(--soft); font-size: 0.875rem; }
nav a[aria-current] { color: var(--ink); font-weight: 650; text-decoration: none; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0.75rem 0 0.5rem; letter-spacing: -0.01em; }
[dir=rtl] h1 { letter-spacing: 0; }
h2 { font-size: 1.1875rem; line-height: 1.3; margin: 0 0 0.375rem; }
p { margin: 0 0 0.75rem; }
.package { font-weight: 650; margin-bottom: 0.25rem; }
.soft, dt { color: var(--soft); font-size: 0.9375rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 0.875rem; padding: 1.125rem 1rem; margin: 1rem 0 0; }
section > :last-child, .note > :last-child { margin-bottom: 0; }
.note { background: var(--note); border: 0; border-inline-start: 0.3rem solid var(--note-line); border-radius: 0.5rem; padding: 0.875rem 1rem; margin: 1rem 0 0; }
.note strong { display: block; }
.note[data-code="WORKING"] { --note: #e3f4e8; --note-line: #1d8a43; }
@media (prefers-color-scheme: dark) { .note[data-code="WORKING"] { --note: #17321f; --note-line: #5bb974; } }
.shop { display: flex; align-items: center; gap: 0.625rem; margin: 1rem 0 0; font-weight: 650; }
.shop img { display: block; height: 2.5rem; width: auto; max-width: 10rem; object-fit: contain; }
.tap { display: flex; align-items: center; justify-content: space-between; gap: 0 0.75rem; flex-wrap: wrap; min-height: 3.5rem;
  padding: 0.75rem 1rem; margin-top: 0.625rem; border-radius: 0.75rem; background: var(--shop, var(--accent)); color: var(--on-shop, var(--on-accent));
  text-decoration: none; font-weight: 650; }
.tap small { font-weight: 400; font-size: 0.875rem; }
.qr { display: block; width: 100%; max-width: 17.5rem; height: auto; margin: 0.25rem auto 0; border-radius: 0.5rem; }
.qr svg { display: block; width: 100%; height: auto; border-radius: 0.5rem; }
dl { margin: 0; }
dd { margin: 0 0 0.875rem; }
dl > :last-child { margin-bottom: 0; }
.plan { display: grid; grid-template-columns: auto 1fr; gap: 0.375rem 1rem; margin-bottom: 0.75rem; overflow-wrap: normal; }
.plan dd { margin: 0; font-weight: 650; text-align: end; text-wrap: balance; }
.code { display: flex; gap: 0.5rem; align-items: stretch; }
code { flex: 1; display: block; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--back);
  font: 0.9375rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; direction: ltr; text-align: left; unicode-bidi: isolate; user-select: all; -webkit-user-select: all; }
button { min-width: 5.5rem; min-height: 3rem; padding: 0 0.75rem; border: 1px solid var(--quiet, var(--accent)); border-radius: 0.5rem; background: transparent;
  color: var(--quiet, var(--accent)); font: inherit; font-weight: 650; cursor: pointer; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { min-height: 3rem; padding: 0.75rem 0; font-weight: 650; cursor: pointer; }
ol { margin: 0 0 1rem; padding-inline-start: 1.5rem; }
li { margin-bottom: 0.375rem; }
.causes dt { color: var(--ink); font-size: inherit; font-weight: 650; }
.contacts { margin: 0; padding: 0; list-style: none; }
.contacts a { display: inline-block; min-height: 2.75rem; padding: 0.625rem 0; color: inherit; }
label { display: flex; align-items: center; justify-content: space-between; gap: 1rem; margin: 0 0 0.75rem; }
select { min-width: 5.5rem; min-height: 2.75rem; padding: 0 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--back); color: inherit; font: inherit; }
form button { width: 100%; }
.private { margin: 1.25rem 0 0; }
a:focus-visible, button:focus-visible, select:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`);

/**
 * Adds a button beside each code. Where the browser gives no clipboard, as without https, the code is
 * selected instead.
 */
export const SCRIPT = `(() => {
  const select = (code) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      select(code);
      return document.execCommand('copy');
    }
  };
  for (const code of document.querySelectorAll('code[data-copy]')) {
    const { copy: label, copied } = code.dataset;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.setAttribute('aria-describedby', code.id);
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', async () => {
      if (!(await copy(code))) return;
      button.textContent = copied;
      setTimeout(() => { button.textContent = label; }, 2000);
    });
    code.after(button);
  }
})();
`;

// The TypeScript receiver of docs/WEBHOOKS.md works as shown, and that page shows every receiver as its file
// is. Those in Python and Go run in .ci/run, where their tools are installed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FILES, judgeReceiver, LANGUAGES } from '../support/people/receivers.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(DOCS, 'WEBHOOKS.md'), 'utf8');
const ci = readFileSync(join(DOCS, '..', '.ci', 'run'), 'utf8');

describe('the receivers of docs/WEBHOOKS.md', () => {
  it.each(LANGUAGES)('are shown as their files are: %s', (language) => {
    const file = readFileSync(join(DOCS, 'examples', FILES[language]), 'utf8');
    expect(page).toContain(`\`\`\`${language}\n${file}\`\`\``);
    expect(page).toContain(`examples/${FILES[language]}`);
  });

  it('accepts genuine messages and refuses others: typescript', async () => {
    expect(await judgeReceiver('typescript')).toEqual([]);
  });

  it('.ci/run tests the others', () => {
    for (const language of ['go', 'python']) expect(ci).toMatch(new RegExp(`^ *receiver ${language} `, 'm'));
  });
});

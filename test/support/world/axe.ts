// The accessibility faults of a page, found by axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const GRAVE = ['serious', 'critical'];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const SETTLED = `(async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
  await Promise.all(ending.map((one) => one.finished.catch(() => undefined)));
})()`;

/**
 * Waits until colours have faded and the menu has moved, but not for endless animations such as placeholders.
 */
export const settled = (page: Page): Promise<unknown> => page.evaluate(SETTLED);

/** Serious and critical faults, one line for each element. */
export async function graveFaults(page: Page): Promise<string[]> {
  const faults = await faultsNow(page);
  // On a busy machine a dialog begins to fade in only then, with too little contrast for a moment.
  return faults.length === 0 ? faults : faultsNow(page);
}

async function faultsNow(page: Page): Promise<string[]> {
  await settled(page);
  // Once for each document. Evaluated by the browser's tools, so that the page's own policy need not allow
  // it.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(SOURCE);
  const violations = await page.evaluate<Violation[]>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => GRAVE.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

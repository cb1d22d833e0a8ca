// An older Node prints what to install, and the documents name commands by the script that uses the right
// Node.
import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { OperatorMistake } from '../../src/platform/command.ts';
import { requireNode } from '../../src/app/processes/node-version.ts';
import { projectFiles } from '../repository/source-files.ts';

test.each(['20.20.2', '22.18.0', '23.6.1'])('Node %s prints what to do', (version) => {
  expect(() => requireNode(version)).toThrow(OperatorMistake);
  expect(() => requireNode(version)).toThrow('npm run simway');
});

test.each([process.versions.node, '24.0.0', '26.1.0'])('Node %s is accepted', (version) => {
  expect(() => requireNode(version)).not.toThrow();
});

it('no command in a document depends on the installed Node', () => {
  const pages = projectFiles().filter((file) => file === 'README.md' || /^docs\/[A-Z]+\.md$/.test(file));
  expect(pages.length).toBeGreaterThan(8);
  const wrong = pages.filter((page) => /^node src\/main\.ts/m.test(readFileSync(page, 'utf8')));
  expect(wrong).toEqual([]);
});

// The command line: help for every command, and every usage mistake named before anything is opened.
import { expect, it } from 'vitest';
import { createCli } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runHere } from '../support/world/commands.ts';

const run = (line: string) => runHere(line.split(' '), { env: {} });

async function leaves(group: string): Promise<string[]> {
  const program = await createProgram(createCli(), group);
  const below = (command: typeof program, names: readonly string[]): string[] =>
    command.commands.flatMap((child) => {
      const path = [...names, child.name()];
      return child.commands.length === 0 ? [path.join(' ')] : below(child, path);
    });
  return below(program, []);
}

it.each(['finance', 'webhooks', ''])(
  'every command of "%s" shows its help and does nothing',
  async (group) => {
    const commands = (await leaves(group)).filter((path) => path.startsWith(group));
    expect(commands.length).toBeGreaterThanOrEqual(5);
    for (const path of commands) {
      const { code, stdout, stderr } = await run(`${path} --help`);
      expect({ path, code, stderr }).toEqual({ path, code: 0, stderr: '' });
      expect(stdout).toContain('Usage: npm run ');
      expect(stdout).toContain('--help');
    }
  },
);

it.each([
  [
    'account create --name A',
    1,
    ["--email is required (the owner's e-mail address)", '--by is required (your name)'],
  ],
  ['finance close-difference 1', 2, ['--reason is required (why, for the record)']],
  ['finance books 2026-11-01', 2, ["Unexpected argument '2026-11-01'; use --from/--to"]],
  ['finance refund txn-1 --amount 1.005 --reason because', 2, ['--amount: must be an amount']],
  ['finance dismiss --reason because --class nothing', 2, ['--class: must be one or more of']],
  ['bundle', 1, ["missing required argument 'file'"]],
  ['worker --queue ops', 1, ["unknown option '--queue'", 'Did you mean --queues?']],
  ['accounts create', 1, ["unknown command 'accounts'", 'account create']],
  ['finance stuck', 1, ['Nothing is running in this checkout', 'SIMWAY_URL']],
  ['finance login --url http://simway.example', 2, ['--url: takes https']],
])('%s exits with %i and explains the mistake', async (line, code, words) => {
  const result = await run(line);
  expect({ ...result, stderr: '' }).toEqual({ code, stdout: '', stderr: '' });
  for (const word of words) expect(result.stderr).toContain(word);
});

// The SDK in Go: what is committed is what the document gives, its own tests, its README as it stands there
// on the whole service, and intents that both SDKs send.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { intend, Simway, type Intent } from '../../packages/sdk/src/index.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { go } from '../support/world/go.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const SDK = join(CHECKOUT, 'packages/sdk-go');
const BODY = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' } as const;
const IMPORTS = ['context', 'encoding/json', 'errors', 'fmt', 'io', 'log', 'net/http', 'os', 'time'];
const stack = await soundStack();

/** Runs statements in `main`, with a client of this key. */
async function run(apiKey: string, statements: string): Promise<string> {
  const used = IMPORTS.filter((path) => statements.includes(`${path.split('/').at(-1)}.`));
  const context = statements.includes('ctx := ') ? '' : 'ctx := context.Background()';
  return runProgram(
    apiKey,
    `package main
import (
${[...used, 'context']
  .filter((path, at, all) => all.indexOf(path) === at)
  .map((path) => `"${path}"`)
  .join('\n')}
simway "github.com/simway/simway/packages/sdk-go"
)
func main() {
${context}
${statements}
}
`,
  );
}

async function runProgram(apiKey: string, program: string): Promise<string> {
  const folder = await makeTestFolder();
  writeFileSync(join(folder, 'main.go'), program);
  const env = { URL: stack.apiUrl, KEY: apiKey };
  await go(['build', '-o', join(folder, 'program'), join(folder, 'main.go')], import.meta.dirname);
  const { stdout } = await promisify(execFile)(join(folder, 'program'), { cwd: folder, env });
  return stdout;
}

describe('the SDK in Go', () => {
  it('is generated from the document as it stands (`npm run sdk-go`)', async () => {
    const folder = await makeTestFolder();
    await promisify(execFile)(process.execPath, ['generate.js', folder], { cwd: SDK });
    const [fresh, committed] = [folder, SDK].map((at) => readFileSync(join(at, 'generated.go'), 'utf8'));
    expect(committed === fresh, 'packages/sdk-go/generated.go is behind: npm run sdk-go').toBe(true);
  });

  it('passes its own tests and vet', async () => {
    expect(await go(['vet', './...'], SDK)).toBe('');
    expect(await go(['test', '-count=1', './...'], SDK)).toMatch(/^ok /);
    expect(await go(['vet', './...'], import.meta.dirname)).toBe('');
  });

  it('does what its README shows, with a first purchase in at most ten lines', async () => {
    const buyer = await newBuyer(stack);
    const readme = readFileSync(join(SDK, 'README.md'), 'utf8');
    const blocks = Array.from(readme.matchAll(/```go\n(.+?)```/gs), ([, block]) => block!);
    const [program = '', ...others] = blocks;
    const [, statements = ''] = /^func main\(\) \{\n(.+)^\}\n$/ms.exec(program) ?? [];
    expect(statements.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    expect(await runProgram(buyer.account.apiKey, program)).toMatch(/^SUCCESS txn-\w+\n$/);
    const printed = await run(buyer.account.apiKey, [statements, ...others].join('\n'));
    const [, first, second, third] = (await buyer.purchases()).filter(({ status }) => status === 'SUCCESS');
    expect(printed).toContain(`SUCCESS ${first!.transaction_id}\n`);
    // Whoever has an activation code can install the eSIM, so no sample prints one.
    expect(printed).not.toContain('LPA:');
    expect(printed).toContain(`same ${second!.transaction_id} SUCCESS`);
    expect(third!.package_code).toBe('SIM-MANUAL-LIFE');
    for (const line of ['fund the wallet', '2.30 230 2.31 <nil>', 'EXPIRED <nil>', '89999'])
      expect(printed).toContain(line);
  });

  it('finds what the other SDK bought with the same intent, and the other way round', async () => {
    const { account } = await newBuyer(stack);
    const simway = new Simway({ baseUrl: stack.apiUrl, apiKey: account.apiKey });
    const intent = intend('buy', { body: BODY });
    const { transactionId } = await simway.send(intent);
    const printed = await run(
      account.apiKey,
      `client := simway.New(os.Getenv("URL"), os.Getenv("KEY"))
var intent simway.Intent[simway.Purchase]
_ = json.Unmarshal([]byte(${JSON.stringify(JSON.stringify(intent))}), &intent)
found, err := simway.Send(ctx, client, intent)
fmt.Println(found.TransactionID, err)
other, _ := simway.BuyIntent(simway.BuyRequest{PackageCode: "SIM-OK", PackageType: "BASE", PaymentMethod: "WALLET"})
bought, _ := simway.Send(ctx, client, other)
stored, _ := json.Marshal(other)
fmt.Println(bought.TransactionID)
fmt.Println(string(stored))`,
    );
    const [found, bought, stored = ''] = printed.split('\n');
    expect(found).toBe(`${transactionId} <nil>`);
    expect(await simway.send(JSON.parse(stored) as Intent<object>)).toMatchObject({ transactionId: bought });
  });
});

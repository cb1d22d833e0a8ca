// A Temporal that is older than Simway needs: what would use it does not start, and says so.
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import proto from '@temporalio/proto';
import { afterAll, describe, expect, it } from 'vitest';
import { runWorker } from '../../src/app/processes/worker.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { OperatorMistake } from '../../src/platform/command.ts';
import { OLDEST_TEMPORAL, requireVersion } from '../../src/platform/temporal/version.ts';
import { runHere } from '../support/world/commands.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';

/** Answers every call with its version. */
async function startOld(serverVersion: string): Promise<string> {
  const message = proto.temporal.api.workflowservice.v1.GetSystemInfoResponse.encode({
    serverVersion,
  }).finish();
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat([header, message]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an older server', async () => {
  const stack = await forFile(startStack({ worker: false }));
  const address = await startOld('1.28.4');
  const env = { ...stack.env, TEMPORAL_ADDRESS: address };
  const sentence = `Temporal at ${address} is version 1.28.4, and Simway needs ${OLDEST_TEMPORAL} or newer`;

  it('gets no worker', async () => {
    const starting = runWorker({ ...stack.context, ...readConfig(env), processName: 'worker' }, ['orders']);
    await expect(starting).rejects.toEqual(new OperatorMistake(sentence));
  });

  it('is not prepared, and the command says why in one sentence', async () => {
    expect(await runHere(['migrate'], { env })).toMatchObject({ code: 1, stderr: `${sentence}\n` });
  });
});

describe('a version', () => {
  const check = (serverVersion: string) => {
    const workflowService = { getSystemInfo: () => Promise.resolve({ serverVersion }) } as never;
    return requireVersion({ workflowService, withDeadline: (_at, ask) => ask() }, 'there:7233');
  };

  it.each(['1.9.2', '1.28.4'])('%s is too old', async (version) => {
    await expect(check(version)).rejects.toThrow(OperatorMistake);
  });

  it.each([`${OLDEST_TEMPORAL}.0`, '1.32.1', '1.33.0-150.2', '2.0.0', ''])(
    '"%s" is taken',
    async (version) => {
      await expect(check(version)).resolves.toBeUndefined();
    },
  );
});

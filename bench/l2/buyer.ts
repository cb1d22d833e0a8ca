/**
 * A buyer that uses the HTTP API over kept-alive connections. Throws on anything but 201 with status SUCCESS.
 */
import { Agent, request } from 'node:http';
import type { Servers } from '../support/servers.ts';
import type { Service } from '../support/service.ts';

export type Buyer = ReturnType<typeof createBuyer>;

const BODY = JSON.stringify({ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' });
const LONGEST_MS = 30_000;
const MERCHANTS = 16;

/** Buys for new merchants in turn; closed with the servers. */
export async function startBuyer(servers: Servers, service: Service): Promise<Buyer> {
  const keys: string[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) keys.push((await service.account()).apiKey);
  const buyer = createBuyer(service.apiUrl, keys);
  servers.onClose(() => {
    buyer.close();
    return Promise.resolve();
  });
  return buyer;
}

/** `apiKeys` are used in turn. */
export function createBuyer(apiUrl: string, apiKeys: readonly string[]) {
  const agent = new Agent({ keepAlive: true });
  const url = new URL('/api/esim/buy', apiUrl);
  let turn = 0;
  const post = (key: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': String(BODY.length),
        'X-API-Key': key,
      };
      const sent = request(url, { method: 'POST', agent, headers, timeout: LONGEST_MS }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject);
      sent.end(BODY);
    });
  return {
    apiKeys,
    /** Buys once; returns the transactionId. */
    buy: async (): Promise<string> => {
      turn += 1;
      const { status, text } = await post(apiKeys[turn % apiKeys.length] ?? '');
      const body = JSON.parse(text) as { status?: string; transactionId?: string };
      if (status !== 201 || body.status !== 'SUCCESS' || body.transactionId === undefined) {
        throw new Error(`a purchase answered ${status}: ${text.slice(0, 300)}`);
      }
      return body.transactionId;
    },
    close: () => agent.destroy(),
  };
}

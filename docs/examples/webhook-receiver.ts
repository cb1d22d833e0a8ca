// A webhook receiver in TypeScript, with Node's HTTP server and the package of the open standard.
//   npm install standardwebhooks
//   WEBHOOK_SECRET=whsec_… node webhook-receiver.ts
import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';

interface Event {
  readonly event: string;
  readonly data: Readonly<Record<string, string | number>>;
  readonly timestamp: string;
}

const webhook = new Webhook(process.env['WEBHOOK_SECRET'] ?? '');
/** In production: a table with a unique column, written in the same transaction as your change. */
const taken = new Set<string>();

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
});
server.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1', () => console.log('listening'));

async function receive(request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  // The signature covers the raw bytes: verify before parsing.
  const body = Buffer.concat(chunks);
  const id = String(request.headers['webhook-id']);
  let event: Event;
  try {
    event = webhook.verify(body, request.headers as Record<string, string>) as Event;
  } catch {
    return 401;
  }
  if (!taken.has(id)) handle(event);
  taken.add(id);
  return 204;
}

/** Accepts the event and returns at once. Put long work into your own queue. */
function handle({ event, data }: Event): void {
  if (event === 'esim.purchased') console.log(`${data['transactionId']} is ${data['status']}`);
  else console.log(event);
}

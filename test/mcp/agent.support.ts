// An agent: the official client, with a key.
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';

export type Fields = Readonly<Record<string, unknown>>;

export type Agent = Awaited<ReturnType<typeof connectAgent>>;

interface Connection {
  readonly url: string;
  readonly key: string;
  /** Of 2025, with a handshake; otherwise of 2026-07-28. */
  readonly isOld?: boolean;
  readonly headers?: (key: string) => Record<string, string>;
}

const asApiKey = (key: string): Record<string, string> => ({ 'X-API-Key': key });
export const asBearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });

export async function connectAgent({ url, key, isOld = false, headers = asApiKey }: Connection) {
  const client = new Client(
    { name: 'test-agent', version: '1.0.0' },
    { versionNegotiation: { mode: isOld ? 'legacy' : { pin: '2026-07-28' } } },
  );
  const requestInit = { headers: headers(key) };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  const call = async (name: string, args: Fields = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: args });
  return {
    client,
    call,
    /** What the tool answers; throws what it refuses. The client checks it against the tool's schema. */
    done: async (name: string, args?: Fields): Promise<Fields> => {
      const result = await call(name, args);
      if (result.isError === true) throw new Error(textOf(result));
      return result.structuredContent as Fields;
    },
    refused: async (name: string, args?: Fields): Promise<Fields> => {
      const result = await call(name, args);
      if (result.isError !== true) throw new Error(`${name} was not refused: ${textOf(result)}`);
      return JSON.parse(textOf(result)) as Fields;
    },
    close: () => client.close(),
  };
}

export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

import pg from 'pg';

/** One connection as the owner. It is closed also when `use` fails. */
export async function asOwner<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export function dropDatabase(client: pg.Client, name: string): Promise<unknown> {
  return client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

// Gates in a test's own Postgres: points inside the steps of a purchase where the database holds a session
// for one account until the test releases it. The owner plants them as triggers, so the service under test
// runs unchanged. Killing a worker that waits at a `:commit` gate leaves a step that is done without the
// worker's knowledge; at an `:inside` gate, one that is rolled back if its transaction has more than that
// statement.
import pg from 'pg';
import { until } from './until.ts';

export type Gate = `${keyof typeof PLACES}:${'inside' | 'commit'}`;

export type Gates = Awaited<ReturnType<typeof plantGates>>;

const SCHEMA = 'test';

/** Where each gate stands: which rows of which table, and whether in the statement or at the commit. */
const PLACES = {
  open: { on: 'insert on purchases', when: 'true' },
  profile: { on: 'update on esims', when: `old.iccid = '' and new.iccid <> ''` },
  'top-up': {
    on: 'update on purchases',
    when: 'old.top_up_total_volume_bytes is null and new.top_up_total_volume_bytes is not null',
  },
  close: { on: 'update on holds', when: 'true' },
  // A refusal that the caller will hear, kept under an Idempotency-Key with nothing else.
  refuse: { on: 'insert or update on idempotency_keys', when: 'new.refusal_reason is not null' },
  fund: { on: 'insert on fundings', when: 'true' },
  // The payment's reference, before the gateway is asked; how to pay, after it has said so; money that it has
  // seen.
  pay: { on: 'insert on payments', when: 'true' },
  instructed: { on: 'update on payments', when: 'old.instructions is null and new.instructions is not null' },
  booked: { on: 'update on payments', when: 'new.received_minor > old.received_minor' },
  // The API's own write: the answer kept under an Idempotency-Key, just before the caller gets it.
  answer: {
    on: 'update on idempotency_keys',
    when: 'old.answer_status is null and new.answer_status is not null',
  },
} as const;
const GATES = Object.keys(PLACES).flatMap((place) => [`${place}:inside`, `${place}:commit`] as Gate[]);

/** Plants all gates, open, in a database of the test's own. */
export async function plantGates(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl, options: `-c search_path=${SCHEMA}` });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`
    create function wait_at_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(hashtextextended(tg_argv[0] || ' ' || new.account_id, 0));
      return new;
    end $$`);
  for (const gate of GATES) await client.query(triggerOf(gate));
  const keyOf = (gate: Gate, accountId: string): string => `${gate} ${accountId}`;
  // The locks are this one session's, which does one thing at a time, however many shut gates at once.
  let before: Promise<unknown> = Promise.resolve();
  const query = (text: string, values: string[] = []): Promise<pg.QueryResult> => {
    const answer = before.then(() => client.query(text, values));
    before = answer.catch(() => undefined);
    return answer;
  };
  return {
    /** From now on sessions of this account wait at this gate. */
    shut: async (gate: Gate, accountId: string) => {
      await query('select pg_advisory_lock(hashtextextended($1, 0))', [keyOf(gate, accountId)]);
    },
    /** Resolves once a session waits there. */
    reached: async (gate: Gate, accountId: string) => {
      await until(
        async () => (await query(WAITING, [keyOf(gate, accountId)])).rowCount ?? 0,
        (waiting) => waiting > 0,
        { what: `a session at the gate ${gate}`, everyMs: 20 },
      );
    },
    openAll: async () => {
      await query('select pg_advisory_unlock_all()');
    },
    close: () => client.end(),
  };
}

/** Sessions that wait for the lock of this key. */
const WAITING = `
  select 1 from pg_locks, (select hashtextextended($1, 0) as key) as wanted
   where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())
     and classid::bigint = ((key >> 32) & 4294967295) and objid::bigint = (key & 4294967295)`;

function triggerOf(gate: Gate): string {
  const [place, at] = gate.split(':') as [keyof typeof PLACES, 'inside' | 'commit'];
  const { on, when } = PLACES[place];
  const name = `gate_${gate.replaceAll(/\W/g, '_')}`;
  const call = `for each row when (${when}) execute function wait_at_gate('${gate}')`;
  return at === 'inside'
    ? `create trigger ${name} before ${on} ${call}`
    : `create constraint trigger ${name} after ${on} deferrable initially deferred ${call}`;
}

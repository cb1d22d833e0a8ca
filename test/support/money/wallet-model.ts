// The wallet as a state machine, for checkLinearizable: what each verb of the ledger must answer when calls
// come one at a time. One model is one wallet; operations on different wallets are checked separately.
import type { Model } from './linearizability.ts';

export type WalletInput =
  | { readonly verb: 'fund'; readonly key: string; readonly amountMinor: bigint }
  | { readonly verb: 'hold'; readonly id: string; readonly amountMinor: bigint }
  | { readonly verb: 'post'; readonly id: string }
  | { readonly verb: 'void'; readonly id: string }
  | { readonly verb: 'read' };

/** Words of the ledger; `conflict` stands for HoldConflict, a balance for what a read saw. */
export type WalletOutput =
  'done' | 'already' | 'held' | 'insufficient' | 'posted' | 'voided' | 'conflict' | bigint;

interface Hold {
  readonly status: 'HELD' | 'POSTED' | 'VOIDED';
  readonly amountMinor: bigint;
}

interface WalletState {
  readonly balanceMinor: bigint;
  readonly holds: ReadonlyMap<string, Hold>;
  readonly funded: ReadonlySet<string>;
}

interface Step {
  readonly state: WalletState;
  readonly output: WalletOutput;
}

export const walletModel: Model<WalletState, WalletInput, WalletOutput> = {
  initial: { balanceMinor: 0n, holds: new Map(), funded: new Set() },
  apply: (state, input) => {
    switch (input.verb) {
      case 'read':
        return { state, output: state.balanceMinor };
      case 'fund':
        return fund(state, input.key, input.amountMinor);
      case 'hold':
        return hold(state, input.id, input.amountMinor);
      case 'post':
        return close(state, input.id, 'POSTED');
      case 'void':
        return close(state, input.id, 'VOIDED');
    }
  },
  keyOf: ({ balanceMinor, holds, funded }) =>
    `${balanceMinor} ${[...holds]
      .map(([id, { status }]) => id + status.charAt(0))
      .sort()
      .join()} ${[...funded].sort().join()}`,
  sameOutput: (a, b) => a === b,
  changesNothing: ({ verb }, output) =>
    verb === 'read' || output === 'already' || output === 'insufficient' || output === 'conflict',
};

function fund(state: WalletState, key: string, amountMinor: bigint): Step {
  if (state.funded.has(key)) return { state, output: 'already' };
  return {
    state: {
      ...state,
      balanceMinor: state.balanceMinor + amountMinor,
      funded: new Set([...state.funded, key]),
    },
    output: 'done',
  };
}

function hold(state: WalletState, id: string, amountMinor: bigint): Step {
  if (state.holds.has(id)) return { state, output: 'already' };
  if (state.balanceMinor < amountMinor) return { state, output: 'insufficient' };
  return {
    state: {
      ...state,
      balanceMinor: state.balanceMinor - amountMinor,
      holds: new Map([...state.holds, [id, { status: 'HELD', amountMinor }]]),
    },
    output: 'held',
  };
}

/** Releasing what was never held does nothing; posting it is a conflict. */
function close(state: WalletState, id: string, status: 'POSTED' | 'VOIDED'): Step {
  const found = state.holds.get(id);
  if (found === undefined) return { state, output: status === 'VOIDED' ? 'already' : 'conflict' };
  if (found.status === status) return { state, output: 'already' };
  if (found.status !== 'HELD') return { state, output: 'conflict' };
  return {
    state: {
      ...state,
      balanceMinor: state.balanceMinor + (status === 'VOIDED' ? found.amountMinor : 0n),
      holds: new Map([...state.holds, [id, { ...found, status }]]),
    },
    output: status === 'POSTED' ? 'posted' : 'voided',
  };
}
